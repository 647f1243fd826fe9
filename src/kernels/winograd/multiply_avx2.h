#pragma once

#include <immintrin.h>

#include <array>

#include "kernels/blocked/with_product_avx2.h"
#include "kernels/winograd/layout.h"

// The matrix kernel. Included only by files compiled for AVX2 and FMA, each with its own copy: see
// instruction_set_test.py.
namespace tacho::winograd {
namespace {

constexpr int kPrefetchLines = 2;

struct Multiplication {
  const float* inputs;    // [channel / 8][6 tiles][8]
  const float* weights;   // [channel][16]
  const float* prefetch;  // fetched into L2: kPrefetchLines for each 8 channels,
  int64_t prefetch_step;  // this far from those for the next 8
  int64_t channels;
  float* products;         // [tile][8], and the same for 8 more output channels:
  int64_t product_stride;  // this far away
};

template<int tiles, int vectors>
void multiply(const Multiplication& task) {
  __m256 sums[tiles][vectors];
#pragma GCC unroll 6
  for (int tile = 0; tile < tiles; ++tile) {
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i) sums[tile][i] = _mm256_setzero_ps();
  }
  const float* inputs = task.inputs;
  const float* weights = task.weights;
  const auto step = [&](int64_t channel) {
    __m256 weight[vectors];
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i)
      weight[i] = _mm256_load_ps(weights + channel * kSliceChannels + i * kLanes);
#pragma GCC unroll 6
    for (int tile = 0; tile < tiles; ++tile) {
      const __m256 input = _mm256_broadcast_ss(inputs + tile * kLanes + channel);
#pragma GCC unroll 2
      for (int i = 0; i < vectors; ++i)
        sums[tile][i] = blocked::with_product(sums[tile][i], input, weight[i]);
    }
  };
  const float* prefetch = task.prefetch;
  int64_t left = task.channels;
  for (; left >= kLanes; left -= kLanes) {
#pragma GCC unroll 4
    for (int line = 0; line < kPrefetchLines; ++line)
      _mm_prefetch(prefetch + line * kLineFloats, _MM_HINT_T1);
#pragma GCC unroll 8
    for (int64_t channel = 0; channel < kLanes; ++channel) step(channel);
    inputs += kBlockTiles * kLanes;
    weights += kLanes * kSliceChannels;
    prefetch += task.prefetch_step;
  }
  for (int64_t channel = 0; channel < left; ++channel) step(channel);
#pragma GCC unroll 6
  for (int tile = 0; tile < tiles; ++tile) {
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i) {
      _mm256_store_ps(task.products + i * task.product_stride + tile * kLanes, sums[tile][i]);
    }
  }
}

using Multiply = void (*)(const Multiplication&);

// By number of tiles - 1, then by number of vectors of 8 output channels - 1.
constexpr std::array<std::array<Multiply, 2>, kBlockTiles> kMultiply = {{
    {multiply<1, 1>, multiply<1, 2>},
    {multiply<2, 1>, multiply<2, 2>},
    {multiply<3, 1>, multiply<3, 2>},
    {multiply<4, 1>, multiply<4, 2>},
    {multiply<5, 1>, multiply<5, 2>},
    {multiply<6, 1>, multiply<6, 2>},
}};

}  // namespace
}  // namespace tacho::winograd
