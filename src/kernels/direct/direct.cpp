#include "kernels/direct/direct.h"

#include <cassert>

#include "base/cpu.h"
#include "kernels/blocked/sum_channels.h"
#include "kernels/direct/avx2.h"

namespace tacho::direct {

std::array<int64_t, 3> dst_extents(const Convolution& convolution) {
  std::array<int64_t, 3> result;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t room = convolution.extents[axis] + 2 * convolution.padding[axis] - convolution.kernel[axis];
    result[axis] = room < 0 ? 0 : room / convolution.stride[axis] + 1;
  }
  return result;
}

std::optional<std::string> why_unsupported(const Convolution& convolution) {
  if (widest_instruction_set() < InstructionSet::avx2) return "direct kernels need AVX2";
  const auto& [batch, in, out, kernel, stride, extents, padding, src_stride, dst_stride] = convolution;
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
  return PackedLayout(convolution, direction).floats();
}

void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads) {
  assert(!why_unsupported(convolution));
  pack_weights_f32_avx2(convolution, direction, weights, packed, threads);
}

Split pack_weights_split(const Convolution& convolution, Direction direction) {
  const PackedLayout layout(convolution, direction);
  return {{{.items = layout.chunks * layout.slices, .pieces = layout.blocks * layout.slices}}};
}

int64_t gather_scratch_floats(const Convolution& convolution, Direction direction, int threads) {
  return threads * GatherPlan(convolution, direction, threads).steps *
         static_cast<int64_t>(sizeof(Step) / sizeof(float));
}

void gather(const Convolution& convolution, Direction direction, const GatherArguments& arguments,
            float* scratch, int threads) {
  assert(!why_unsupported(convolution));
  gather_f32_avx2(GatherPlan(convolution, direction, threads), arguments, scratch, threads);
}

Split gather_split(const Convolution& convolution, Direction direction, int threads) {
  return {{GatherPlan(convolution, direction, threads).loop()}};
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
  return plan.scratch_floats() + blocked::channel_sums_floats(plan.dst, convolution.batch);
}

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  assert(!why_unsupported(convolution));
  backward_weights_f32_avx2(BackwardWeightsPlan(convolution, threads), arguments, scratch, threads);
}

Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
  Split result = plan.split();
  if (with_bias) result.loops.push_back(blocked::sum_channels_loop(plan.dst, convolution.batch));
  return result;
}

}  // namespace tacho::direct
