#pragma once

#include <array>
#include <utility>

#include "kernels/direct/positions.h"
#include "kernels/vector.h"

// The inner kernel. Included only by files compiled for AVX2 or AVX-512, each with its own copy: see
// instruction_set_test.py.
namespace tacho::direct::TACHO_ISA {
namespace {

struct Accumulation {
  const float* read;        // the chunk's first channel block
  const float* weights;     // of one chunk and slice
  int64_t channel_blocks;   // of the chunk
  const float* begin_with;  // sums so far, laid out as what is written, or none
  const float* bias;        // kSliceChannels, added at the end
  float floor;              // nothing written is less
  const float* mask;        // or none: what is not above 0 there becomes 0
  float* written;           // the slice's first channel block
  int64_t written_block_stride;
};

// `prefetch`: one line for each step, fetched into L2.
template<int positions, int vectors>
void accumulate(const Accumulation& task, const PositionBlock& block, const float* prefetch) {
  Vector sums[positions][vectors];
  const float* inputs[positions];
#pragma GCC unroll 6
  for (int i = 0; i < positions; ++i) {
    inputs[i] = task.read + block.read[i];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums[i][v] = zero();
  }
  if (task.begin_with != nullptr) {
#pragma GCC unroll 6
    for (int i = 0; i < positions; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        sums[i][v] = load(task.begin_with + block.written[i] + v * task.written_block_stride);
      }
    }
  }
  const Step* const end = block.steps + task.channel_blocks * block.taps;
  for (const Step* step = block.steps; step != end; ++step) {
    const float* weights = task.weights + step->weights;
    const int64_t offset = step->read;
    _mm_prefetch(prefetch, _MM_HINT_T1);
    prefetch += kLineFloats;
#pragma GCC unroll 6
    for (int i = 0; i < positions; ++i) _mm_prefetch(inputs[i] + step[1].read, _MM_HINT_T0);
#pragma GCC unroll 16
    for (int64_t channel = 0; channel < kLanes; ++channel) {
      Vector weight[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) weight[v] = load(weights + channel * kSliceChannels + v * kLanes);
#pragma GCC unroll 6
      for (int i = 0; i < positions; ++i) {
        const Vector input = broadcast_at(inputs[i] + offset + channel);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[i][v] = with_product(sums[i][v], input, weight[v]);
      }
    }
  }
  const Vector floor = broadcast(task.floor);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const Vector bias = load(task.bias + v * kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < positions; ++i) {
      const int64_t place = block.written[i] + v * task.written_block_stride;
      // This order of operands keeps NaN.
      Vector sum = larger(floor, sums[i][v] + bias);
      if (task.mask != nullptr) {
        sum = zero_unless_positive(load(task.mask + place), sum);
      }
      store(task.written + place, sum);
    }
  }
}

using Accumulate = void (*)(const Accumulation&, const PositionBlock&, const float*);

// By number of positions - 1, then by number of vectors of output channels - 1.
constexpr auto kAccumulate = []<int... i>(std::integer_sequence<int, i...>) {
  return std::array<std::array<Accumulate, kSliceVectors>, kBlockPositions>{
      accumulate<i / kSliceVectors + 1, i % kSliceVectors + 1>...};
}
(std::make_integer_sequence<int, kBlockPositions * kSliceVectors>{});

}  // namespace
}  // namespace tacho::direct::TACHO_ISA
