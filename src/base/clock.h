#pragma once

#include <chrono>
#include <string>

namespace tacho {

// Milliseconds on a clock that never steps back.
inline double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// "2026-11-16T01:38:15Z": ISO 8601, UTC.
std::string utc_now();

}  // namespace tacho
