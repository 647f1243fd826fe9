#include "kernels/direct/direct.h"

#include <cassert>

#include "kernels/blocked/widths.h"
#include "kernels/direct/kernels.h"
#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

const Kernels& kernels(const Convolution& convolution) {
  assert(!why_unsupported(convolution));
  return convolution.lanes == 16 ? avx512::kKernels : avx2::kKernels;
}

}  // namespace

std::array<int64_t, 3> dst_extents(const Convolution& convolution) {
  std::array<int64_t, 3> result;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t room = convolution.extents[axis] + 2 * convolution.padding[axis] - convolution.kernel[axis];
    result[axis] = room < 0 ? 0 : room / convolution.stride[axis] + 1;
  }
  return result;
}

std::optional<std::string> why_unsupported(const Convolution& convolution) {
  if (auto reason = blocked::why_unsupported(convolution.lanes)) return reason;
  const auto& [batch, in, out, kernel, stride, extents, padding, src_stride, dst_stride, lanes] = convolution;
  if (batch < 1 || in < 1 || out < 1) return "the batch and the numbers of channels must be positive";
  for (int axis = 0; axis < 3; ++axis) {
    if (kernel[axis] < 1 || kernel[axis] > kMaxKernel) return "direct kernels are 1 to 16 long on each axis";
    if (stride[axis] < 1 || stride[axis] > kMaxKernel) return "direct kernels take strides of 1 to 16";
    if (padding[axis] < 0 || padding[axis] >= kernel[axis])
      return "direct kernels take padding smaller than the kernel";
    if (dst_extents(convolution)[axis] < 1) return "the source is smaller than the kernel";
  }
  return std::nullopt;
}

int64_t packed_weights_floats(const Convolution& convolution, Direction direction) {
  return kernels(convolution).packed_weights_floats(convolution, direction);
}

void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads) {
  return kernels(convolution).pack_weights(convolution, direction, weights, packed, threads);
}

Split pack_weights_split(const Convolution& convolution, Direction direction) {
  return kernels(convolution).pack_weights_split(convolution, direction);
}

int64_t gather_scratch_floats(const Convolution& convolution, Direction direction, int threads) {
  return kernels(convolution).gather_scratch_floats(convolution, direction, threads);
}

void gather(const Convolution& convolution, Direction direction, const GatherArguments& arguments,
            float* scratch, int threads) {
  return kernels(convolution).gather(convolution, direction, arguments, scratch, threads);
}

Split gather_split(const Convolution& convolution, Direction direction, int threads) {
  return kernels(convolution).gather_split(convolution, direction, threads);
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

}  // namespace tacho::direct
