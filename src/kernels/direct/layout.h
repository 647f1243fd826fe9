#pragma once

#include "kernels/blocked/layout.h"
#include "kernels/direct/direct.h"

namespace tacho::direct {

using blocked::ActivationLayout;
using blocked::kLineFloats;

inline constexpr int64_t kMaxKernel = 16;  // along one axis, and as a stride

constexpr int64_t taps(const Convolution& convolution) {
  return convolution.kernel[0] * convolution.kernel[1] * convolution.kernel[2];
}

inline ActivationLayout src_layout(const Convolution& convolution) {
  return {convolution.in_channels, convolution.extents, convolution.src_batch_stride, convolution.lanes};
}
inline ActivationLayout dst_layout(const Convolution& convolution) {
  return {convolution.out_channels, dst_extents(convolution), convolution.dst_batch_stride,
          convolution.lanes};
}

}  // namespace tacho::direct
