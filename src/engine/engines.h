#pragma once

#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace tacho {

// Every engine of this build; the first is the default.
std::vector<const Engine*> engines();

// Throws UserError that names the engines there are.
const Engine& find_engine(std::string_view name);

}  // namespace tacho
