#pragma once

#include <array>
#include <utility>

#include "kernels/vector.h"
#include "kernels/winograd/packed_layout.h"

// The matrix kernel. Included only by files compiled for AVX2 or AVX-512, each with its own copy: see
// instruction_set_test.py.
namespace tacho::winograd::TACHO_ISA {
namespace {

constexpr int kPrefetchLines = 2;

struct Multiplication {
  const float* inputs;    // [channel block][kBlockTiles][kLanes]
  const float* weights;   // [channel][kSliceChannels]
  const float* prefetch;  // fetched into L2: kPrefetchLines for each channel block,
  int64_t prefetch_step;  // this far from those for the next one
  int64_t channels;
  float* products;         // [tile][kLanes], and the same for the next block of output channels:
  int64_t product_stride;  // this far away
};

template<int tiles, int vectors>
void multiply(const Multiplication& task) {
  Vector sums[tiles][vectors];
#pragma GCC unroll 6
  for (int tile = 0; tile < tiles; ++tile) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) sums[tile][i] = zero();
  }
  const float* inputs = task.inputs;
  const float* weights = task.weights;
  const auto step = [&](int64_t channel) {
    Vector weight[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) weight[i] = load(weights + channel * kSliceChannels + i * kLanes);
#pragma GCC unroll 6
    for (int tile = 0; tile < tiles; ++tile) {
      const Vector input = broadcast_at(inputs + tile * kLanes + channel);
#pragma GCC unroll 4
      for (int i = 0; i < vectors; ++i) sums[tile][i] = with_product(sums[tile][i], input, weight[i]);
    }
  };
  const float* prefetch = task.prefetch;
  int64_t left = task.channels;
  for (; left >= kLanes; left -= kLanes) {
#pragma GCC unroll 4
    for (int line = 0; line < kPrefetchLines; ++line)
      _mm_prefetch(prefetch + line * kLineFloats, _MM_HINT_T1);
#pragma GCC unroll 16
    for (int64_t channel = 0; channel < kLanes; ++channel) step(channel);
    inputs += kBlockTiles * kLanes;
    weights += kLanes * kSliceChannels;
    prefetch += task.prefetch_step;
  }
  for (int64_t channel = 0; channel < left; ++channel) step(channel);
#pragma GCC unroll 6
  for (int tile = 0; tile < tiles; ++tile) {
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      store(task.products + i * task.product_stride + tile * kLanes, sums[tile][i]);
    }
  }
}

using Multiply = void (*)(const Multiplication&);

// By number of tiles - 1, then by number of vectors of output channels - 1.
constexpr auto kMultiply = []<int... i>(std::integer_sequence<int, i...>) {
  return std::array<std::array<Multiply, kSliceVectors>, kBlockTiles>{
      multiply<i / kSliceVectors + 1, i % kSliceVectors + 1>...};
}
(std::make_integer_sequence<int, kBlockTiles * kSliceVectors>{});

}  // namespace
}  // namespace tacho::winograd::TACHO_ISA
