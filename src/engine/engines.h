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

// Throws UserError where the engine does not know this kernel, or cannot train in less memory and should.
void check_choices(const Engine& engine, const std::string& kernel, bool low_memory);

// Where the program remembers the fastest kernels: $XDG_CACHE_HOME/tacho/kernels.tsv, or below ~/.cache;
// empty where there is no home.
std::filesystem::path default_kernel_cache();

}  // namespace tacho
