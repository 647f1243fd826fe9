#pragma once

#include <chrono>

namespace tacho {

// Milliseconds on a clock that never steps back.
inline double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace tacho
