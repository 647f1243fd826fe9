#include "kernels/winograd/winograd.h"

#include <cassert>

#include "kernels/blocked/widths.h"
#include "kernels/winograd/kernels.h"
#include "kernels/winograd/layout.h"

namespace tacho::winograd {
namespace {

bool is_known(const std::array<int, 3>& kernel) {
  if (kernel[0] != 1) return kernel == std::array{3, 3, 3};
  bool known = false;
  for_each_flat_kernel([&]<int rows, int columns>() { known |= kernel[1] == rows && kernel[2] == columns; });
  return known;
}

const Kernels& kernels(const Convolution& convolution) {
  assert(!why_unsupported(convolution));
  return convolution.lanes == 16 ? avx512::kKernels : avx2::kKernels;
}

}  // namespace

std::array<int64_t, 3> dst_extents(const Convolution& convolution) {
  const auto outputs = [&](int axis) {
    return convolution.extents[axis] + 2 * convolution.padding[axis] - convolution.kernel[axis] + 1;
  };
  return {outputs(0), outputs(1), outputs(2)};
}

std::array<int64_t, 3> pooled_extents(const Convolution& convolution) {
  const auto [depth, height, width] = dst_extents(convolution);
  return {depth, height / 2, width / 2};
}

Convolution backward_data(const Convolution& convolution) {
  Convolution result = convolution;
  std::swap(result.in_channels, result.out_channels);
  std::swap(result.src_batch_stride, result.dst_batch_stride);
  result.extents = dst_extents(convolution);
  for (int axis = 0; axis < 3; ++axis)
    result.padding[axis] = convolution.kernel[axis] - 1 - convolution.padding[axis];
  return result;
}

std::optional<std::string> why_unsupported(const Convolution& convolution) {
  if (auto reason = blocked::why_unsupported(convolution.lanes)) return reason;
  const auto& [batch, in, out, kernel, extents, padding, src_stride, dst_stride, lanes] = convolution;
  if (!is_known(kernel)) return "Winograd kernels are 3x3, 1x3, 3x1, 5x5, 1x7, 7x1 or 3x3x3";
  if (!is_deep(convolution) && extents[0] != 1) return "a flat kernel takes sources of depth 1";
  for (int axis = 0; axis < 3; ++axis) {
    if (padding[axis] < 0 || padding[axis] >= kernel[axis])
      return "Winograd kernels take less padding than they are wide";
    if (kernel[axis] > 3 && extents[axis] < kernel[axis] - 1)
      return "long kernels take sources that are no shorter than their padding";
    if (dst_extents(convolution)[axis] < 1) return "the source is smaller than the kernel";
  }
  if (batch < 1 || in < 1 || out < 1) return "the batch and the numbers of channels must be positive";
  return std::nullopt;
}

bool can_max_pool(const Convolution& convolution) { return convolution.kernel == std::array{1, 3, 3}; }

int64_t packed_weights_floats(const Convolution& convolution) {
  return kernels(convolution).packed_weights_floats(convolution);
}

void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads) {
  return kernels(convolution).pack_weights(convolution, order, weights, packed, threads);
}

Split pack_weights_split(const Convolution& convolution) {
  return kernels(convolution).pack_weights_split(convolution);
}

int64_t forward_scratch_floats(const Convolution& convolution, int threads) {
  return kernels(convolution).forward_scratch_floats(convolution, threads);
}

void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads) {
  assert(!arguments.max_pool || (can_max_pool(convolution) && !arguments.residual && !arguments.mask));
  return kernels(convolution).forward(convolution, arguments, scratch, threads);
}

Split forward_split(const Convolution& convolution, int threads) {
  return kernels(convolution).forward_split(convolution, threads);
}

int64_t packed_part_floats(const Convolution& convolution) {
  return kernels(convolution).packed_part_floats(convolution);
}

int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads) {
  return kernels(convolution).packing_forward_scratch_floats(convolution, threads);
}

void packing_forward(const Convolution& convolution, WeightOrder order, const float* weights,
                     const ForwardArguments& arguments, float* scratch, int threads) {
  return kernels(convolution).packing_forward(convolution, order, weights, arguments, scratch, threads);
}

Split packing_forward_split(const Convolution& convolution, int threads) {
  return kernels(convolution).packing_forward_split(convolution, threads);
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  return kernels(convolution).backward_weights_scratch_floats(convolution, threads);
}

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  return kernels(convolution).backward_weights(convolution, arguments, scratch, threads);
}

Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads) {
  return kernels(convolution).backward_weights_split(convolution, with_bias, threads);
}

}  // namespace tacho::winograd
