#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/buffer.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "kernels/peak/peak.h"
#include "kernels/peak/time_threads.h"

namespace tacho {
namespace {

// A round sweeps one slice of the arrays, for it to fall between other programs' turns on a busy machine.
// Before the slice's turn comes again, all others have passed through the caches.
constexpr int64_t kSlices = 8;
constexpr int kSweeps = 6;
constexpr int64_t kFloatsPerLine = 16;
constexpr int64_t kMiB = 1 << 20;

// All three arrays together: four times the caches, but no more than half of the free memory.
int64_t bytes_to_sweep() {
  const int64_t wanted = std::max(256 * kMiB, 4 * cpu_info().l3_total_bytes);
  return std::min(wanted, available_memory_bytes() / 2);
}

// Streaming stores write memory without reading it first, so that the bytes counted are the bytes moved.
void triad(int64_t count, float* __restrict a, const float* __restrict b, const float* __restrict c) {
  const __m128 factor = _mm_set1_ps(3);
  for (int64_t i = 0; i < count; i += 4) {
    _mm_stream_ps(a + i, _mm_add_ps(_mm_load_ps(b + i), _mm_mul_ps(factor, _mm_load_ps(c + i))));
  }
  _mm_sfence();
}

}  // namespace

double measure_bandwidth_gbs(int threads, Rounds rounds) {
  use_threads(threads);
  const int64_t pieces = threads * kSlices;
  const auto float_bytes = static_cast<int64_t>(sizeof(float));
  const int64_t piece = bytes_to_sweep() / 3 / pieces / (kFloatsPerLine * float_bytes) * kFloatsPerLine;
  if (piece == 0) return 0;
  const auto bytes = static_cast<size_t>(pieces * piece * float_bytes);
  Buffer a(bytes), b(bytes), c(bytes);
  const auto floats = [](Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); };
  // By the thread that sweeps it, so that it lies near; what nothing was written to is one page of zeros in a
  // cache.
  time_threads_ms([&](int thread) {
    for (Buffer* buffer : {&a, &b, &c})
      std::fill_n(floats(*buffer) + thread * kSlices * piece, kSlices * piece, 1.0f);
  });
  const double ms = time_rounds_ms(kSweeps * kSlices, rounds, [&](int64_t round) {
    return time_threads_ms([&](int thread) {
      const int64_t begin = (thread * kSlices + round % kSlices) * piece;
      triad(piece, floats(a) + begin, floats(b) + begin, floats(c) + begin);
    });
  });
  return static_cast<double>(3 * piece * float_bytes * threads) / ms * 1e-6;
}

}  // namespace tacho
