#pragma once

#include <immintrin.h>

#include <algorithm>

#include "kernels/blocked/sum_channels.h"

// Included only by files compiled for AVX2, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked {
namespace {

inline __m256 sum_floats(const float* values, int64_t count) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  for (int64_t i = 0; i < count; i += kLanes) {
    __m256& sum = sums[i / kLanes % 4];
    sum = _mm256_add_ps(sum, _mm256_load_ps(values + i));
  }
  return _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
}

// Of each channel over a batch; called by all threads of a team, with room for channel_sums_floats(). Floats
// within a chunk of a plane, doubles from chunk to chunk.
inline void sum_channels(const ActivationLayout& layout, int64_t batch, int64_t channels,
                         const float* activation, float* room, float* result) {
  const ChannelSums sums(layout, batch);
  const PlaneParts& parts = sums.parts;
  auto* const totals = reinterpret_cast<double*>(room);
#pragma omp for schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) {
    double* const total = totals + item * kLanes;
    std::fill_n(total, kLanes, 0.0);
    for (int64_t chunk = parts.begin(item); chunk < parts.end(item); ++chunk) {
      const int64_t plane = chunk / sums.chunks, first = chunk % sums.chunks * kSumChunk;
      const float* values = activation + plane / layout.extents[0] * layout.batch_stride +
                            parts.plane(item) * layout.block_stride +
                            plane % layout.extents[0] * layout.plane_stride + first;
      alignas(32) float lanes[kLanes];
      _mm256_store_ps(lanes, sum_floats(values, std::min(kSumChunk, layout.plane_stride - first)));
      for (int64_t lane = 0; lane < kLanes; ++lane) total[lane] += lanes[lane];
    }
  }
#pragma omp for schedule(static)
  for (int64_t channel = 0; channel < channels; ++channel) {
    const double* const total = totals + channel / kLanes * parts.parts * kLanes + channel % kLanes;
    double sum = 0;
    for (int64_t part = 0; part < parts.parts; ++part) sum += total[part * kLanes];
    result[channel] = static_cast<float>(sum);
  }
}

}  // namespace
}  // namespace tacho::blocked
