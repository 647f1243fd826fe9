#pragma once

#include <string>
#include <string_view>

#include "results/system_info.h"

namespace tacho {

// This machine and build, without what has to be measured. `name` is the host's name where empty.
SystemInfo capture_system(std::string_view name);

// Every engine of this build, which loads their libraries. Uses threads: see use_threads().
std::vector<EngineInfo> engine_details();

// This program as other ranks must have it too: "0.1.0, commit f28636d".
std::string build_name();

}  // namespace tacho
