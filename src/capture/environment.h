#pragma once

#include <string_view>

#include "results/system_info.h"

namespace tacho {

// This machine and build, without what has to be measured. `name` is the host's name where empty.
SystemInfo capture_system(std::string_view name);

}  // namespace tacho
