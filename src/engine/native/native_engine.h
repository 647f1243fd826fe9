#pragma once

#include "engine/engine.h"

namespace tacho {

// oneDNN on the CPU: the default. Compiles by the passes of engine/native/passes.h.
const Engine& native_engine();

}  // namespace tacho
