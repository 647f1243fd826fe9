#pragma once

namespace tacho {

// How much a column says. Where a table has no room for all, those that say least are left out first.
enum class Importance { little, some, much, most };

}  // namespace tacho
