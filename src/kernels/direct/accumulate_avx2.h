#pragma once

#include <immintrin.h>

#include "kernels/blocked/with_product_avx2.h"
#include "kernels/direct/positions.h"

// The inner kernel. Included only by files compiled for AVX2 and FMA, each with its own copy: see
// instruction_set_test.py.
namespace tacho::direct {
namespace {

struct Accumulation {
  const float* read;        // the chunk's first channel block
  const float* weights;     // of one chunk and slice
  int64_t channel_blocks;   // of the chunk
  const float* begin_with;  // sums so far, laid out as what is written, or none
  const float* bias;        // 16, added at the end
  float floor;              // nothing written is less
  const float* mask;        // or none: what is not above 0 there becomes 0
  float* written;           // the slice's first channel block
  int64_t written_block_stride;
};

// `prefetch`: one line for each step, fetched into L2.
template<int positions, int vectors>
void accumulate(const Accumulation& task, const PositionBlock& block, const float* prefetch) {
  __m256 sums[positions][vectors];
  const float* inputs[positions];
#pragma GCC unroll 6
  for (int i = 0; i < positions; ++i) {
    inputs[i] = task.read + block.read[i];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[i][v] = _mm256_setzero_ps();
  }
  if (task.begin_with != nullptr) {
#pragma GCC unroll 6
    for (int i = 0; i < positions; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        sums[i][v] = _mm256_load_ps(task.begin_with + block.written[i] + v * task.written_block_stride);
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
#pragma GCC unroll 8
    for (int64_t channel = 0; channel < kLanes; ++channel) {
      __m256 weight[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v)
        weight[v] = _mm256_load_ps(weights + channel * kSliceChannels + v * kLanes);
#pragma GCC unroll 6
      for (int i = 0; i < positions; ++i) {
        const __m256 input = _mm256_broadcast_ss(inputs[i] + offset + channel);
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[i][v] = blocked::with_product(sums[i][v], input, weight[v]);
      }
    }
  }
  const __m256 floor = _mm256_set1_ps(task.floor), zero = _mm256_setzero_ps();
#pragma GCC unroll 2
  for (int v = 0; v < vectors; ++v) {
    const __m256 bias = _mm256_load_ps(task.bias + v * kLanes);
#pragma GCC unroll 6
    for (int i = 0; i < positions; ++i) {
      const int64_t place = block.written[i] + v * task.written_block_stride;
      // This order of operands keeps NaN.
      __m256 sum = _mm256_max_ps(floor, _mm256_add_ps(sums[i][v], bias));
      if (task.mask != nullptr) {
        sum = _mm256_and_ps(sum, _mm256_cmp_ps(_mm256_load_ps(task.mask + place), zero, _CMP_GT_OQ));
      }
      _mm256_store_ps(task.written + place, sum);
    }
  }
}

using Accumulate = void (*)(const Accumulation&, const PositionBlock&, const float*);

// By number of vectors of 8 output channels - 1, then by number of positions - 1.
constexpr std::array<std::array<Accumulate, kBlockPositions>, 2> kAccumulate = {{
    {accumulate<1, 1>, accumulate<2, 1>, accumulate<3, 1>, accumulate<4, 1>, accumulate<5, 1>,
     accumulate<6, 1>},
    {accumulate<1, 2>, accumulate<2, 2>, accumulate<3, 2>, accumulate<4, 2>, accumulate<5, 2>,
     accumulate<6, 2>},
}};

}  // namespace
}  // namespace tacho::direct
