#pragma once

#include <immintrin.h>

#include <algorithm>

#include "kernels/blocked/layout.h"

// Included only by files compiled for AVX2, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked {
namespace {

constexpr int64_t kSumChunk = 4096 * kLanes;

inline __m256 sum_floats(const float* values, int64_t count) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int64_t i = 0; i < count; i += kLanes) {
    __m256& sum = sums[i / kLanes % 4];
    sum = _mm256_add_ps(sum, _mm256_load_ps(values + i));
  }
  return _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
}

// Of each channel over a batch; called by all threads of a team. Floats within a chunk of a plane, doubles
// from chunk to chunk.
inline void sum_channels(const ActivationLayout& layout, int64_t batch, int64_t channels,
                         const float* activation, float* result) {
#pragma omp for schedule(static)
  for (int64_t block = 0; block < layout.blocks; ++block) {
    double totals[kLanes] = {};
    for (int64_t plane = 0; plane < batch * layout.extents[0]; ++plane) {
      const float* values = activation + plane / layout.extents[0] * layout.batch_stride +
                            block * layout.block_stride + plane % layout.extents[0] * layout.plane_stride;
      for (int64_t i = 0; i < layout.plane_stride; i += kSumChunk) {
        alignas(32) float lanes[kLanes];
        _mm256_store_ps(lanes, sum_floats(values + i, std::min(kSumChunk, layout.plane_stride - i)));
        for (int64_t lane = 0; lane < kLanes; ++lane) totals[lane] += lanes[lane];
      }
    }
    const int64_t first = block * kLanes, count = std::min(kLanes, channels - first);
    for (int64_t lane = 0; lane < count; ++lane) result[first + lane] = static_cast<float>(totals[lane]);
  }
}

}  // namespace
}  // namespace tacho::blocked
