#pragma once

#include <omp.h>

#include <limits>

#include "base/clock.h"

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

}  // namespace tacho
