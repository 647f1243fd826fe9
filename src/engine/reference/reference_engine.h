#pragma once

#include "engine/engine.h"

namespace tacho {

// Naive loops with double accumulation: the truth that other engines are tested against.
const Engine& reference_engine();

}  // namespace tacho
