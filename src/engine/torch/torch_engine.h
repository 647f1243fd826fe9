#pragma once

#include "engine/engine.h"

namespace tacho {

inline constexpr std::string_view kTorch = "torch";

// libtorch computes; none in a build or an installation without it. libtorch itself is loaded on first use,
// so that whoever does not ask for this engine does not wait for it.
const Engine* torch_engine();

}  // namespace tacho
