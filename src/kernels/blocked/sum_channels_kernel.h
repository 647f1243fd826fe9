#pragma once

#include <algorithm>

#include "kernels/blocked/sum_channels.h"
#include "kernels/vector.h"

// Included only by files compiled for AVX2 or AVX-512, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked::TACHO_ISA {
namespace {

inline Vector sum_floats(const float* values, int64_t count) {
  Vector sums[4] = {zero(), zero(), zero(), zero()};
  for (int64_t i = 0; i < count; i += kLanes) {
    Vector& sum = sums[i / kLanes % 4];
    sum = sum + load(values + i);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
      alignas(Vector) float lanes[kLanes];
      store(lanes, sum_floats(values, std::min(kSumChunk, layout.plane_stride - first)));
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
}  // namespace tacho::blocked::TACHO_ISA
