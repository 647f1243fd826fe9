#pragma once

#include <string_view>

#include "predict/block_runner.h"

namespace tacho {

std::string_view name_of(Border border);
// Throws UserError that names those there are.
Border parse_border(std::string_view name);

}  // namespace tacho
