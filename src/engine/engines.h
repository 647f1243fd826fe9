#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace tacho {

// Every engine of this build; the first is the default.
std::vector<const Engine*> engines();

// Throws UserError that names the engines there are.
const Engine& find_engine(std::string_view name);

// The same where it must also compute something.
const Engine& find_computing_engine(std::string_view name);

// The default engine's name.
std::string default_engine();

// Where the program remembers the fastest kernels: $XDG_CACHE_HOME/tacho/kernels.tsv, or below ~/.cache;
// empty where there is no home.
std::filesystem::path default_kernel_cache();

}  // namespace tacho
