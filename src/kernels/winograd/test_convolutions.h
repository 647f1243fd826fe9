#pragma once

#include <cmath>

#include "kernels/test_floats.h"
#include "kernels/winograd/layout.h"
#include "kernels/winograd/winograd.h"

// What tests of Winograd's kernels run on.
namespace tacho::winograd {

inline constexpr float kUntouched = 77;

inline int64_t size_of(const Convolution& convolution, const ActivationLayout& layout) {
  return convolution.batch * layout.batch_stride;
}

inline Floats random_src(const Convolution& c) {
  return random_activation(c.batch, src_layout(c), c.in_channels, 1);
}
inline Floats random_diff_dst(const Convolution& c) {
  return random_activation(c.batch, dst_layout(c), c.out_channels, 2);
}
inline Floats random_weights(const Convolution& c) {
  return random_floats(c.out_channels * c.in_channels * taps(c), 3);
}

inline Floats packed(const Convolution& convolution, WeightOrder order, const Floats& weights, int threads) {
  Floats result(packed_weights_floats(convolution), kUntouched);
  pack_weights(convolution, order, weights.data(), result.data(), threads);
  return result;
}

inline void run_forward(const Convolution& convolution, const ForwardArguments& arguments, int threads) {
  Floats scratch(forward_scratch_floats(convolution, threads), std::nanf(""));
  forward(convolution, arguments, scratch.data(), threads);
}

inline void run_backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                                 int threads) {
  Floats scratch(backward_weights_scratch_floats(convolution, threads), std::nanf(""));
  backward_weights(convolution, arguments, scratch.data(), threads);
}

constexpr Convolution flat(int64_t batch, int64_t in, int64_t out, int64_t height, int64_t width,
                           int64_t padding = 1) {
  return {batch, in, out, {1, 3, 3}, {1, height, width}, {0, padding, padding}};
}

// With as many outputs as inputs.
constexpr Convolution shaped(std::array<int, 2> kernel, int64_t batch, int64_t in, int64_t out,
                             int64_t height, int64_t width) {
  return {batch, in, out, {1, kernel[0], kernel[1]}, {1, height, width}, {0, kernel[0] / 2, kernel[1] / 2}};
}

constexpr Convolution deep(int64_t batch, int64_t in, int64_t out, std::array<int64_t, 3> extents,
                           std::array<int64_t, 3> padding = {1, 1, 1}) {
  return {batch, in, out, {3, 3, 3}, extents, padding};
}

}  // namespace tacho::winograd
