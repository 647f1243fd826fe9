#pragma once

namespace tacho::blocked {

// What kernels for the gradient of a convolution's weights read and write.
struct BackwardWeightsArguments {
  const float* src = nullptr;
  const float* diff_dst = nullptr;
  float* diff_weights = nullptr;  // plain OI[D]HW
  float* diff_bias = nullptr;     // or none
};

}  // namespace tacho::blocked
