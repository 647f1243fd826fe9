#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "kernels/peak/peak.h"

namespace tacho {

// Calls body(thread) in every OpenMP thread at once: from the first thread's start to the last one's end.
template<typename Body>
double time_threads_ms(const Body& body) {
  double begin_ms = std::numeric_limits<double>::infinity(), end_ms = 0;
#pragma omp parallel reduction(min : begin_ms) reduction(max : end_ms)
  {
#pragma omp barrier
    begin_ms = now_ms();
    body(omp_get_thread_num());
    end_ms = now_ms();
  }
  return end_ms - begin_ms;
}

// Of one of so many rounds: the shortest, or the mean.
template<typename Round>
double time_rounds_ms(int64_t count, Rounds rounds, const Round& round) {
  double best_ms = std::numeric_limits<double>::infinity(), sum_ms = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double ms = round(i);
    best_ms = std::min(best_ms, ms);
    sum_ms += ms;
  }
  return rounds == Rounds::best ? best_ms : sum_ms / static_cast<double>(count);
}

}  // namespace tacho
