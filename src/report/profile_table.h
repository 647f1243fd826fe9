#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/table.h"
#include "results/profile.h"

namespace tacho {

// table, md: the whole pass, its layers in order of execution (only the `top` most expensive where given), a
// summary by kernel, and the sum of the layers beside the whole.
// csv: a line a layer. json, jsonl: one object.
std::string format_profile(const Profile& profile, const Layout& layout, std::optional<size_t> top = {});

}  // namespace tacho
