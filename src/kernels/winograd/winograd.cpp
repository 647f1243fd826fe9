#include "kernels/winograd/winograd.h"

#include <cassert>

#include "base/cpu.h"
#include "kernels/winograd/avx2.h"
#include "kernels/winograd/backward_weights_plan.h"
#include "kernels/winograd/forward_plan.h"

namespace tacho::winograd {
namespace {

PlainWeights in_order(const Convolution& convolution, WeightOrder order, const float* weights) {
  const int64_t pair = taps(convolution);
  if (order == WeightOrder::flipped) return {weights, pair, convolution.out_channels * pair, true};
  return {weights, convolution.in_channels * pair, pair, false};
}

void check([[maybe_unused]] const Convolution& convolution,
           [[maybe_unused]] const ForwardArguments& arguments) {
  assert(!why_unsupported(convolution));
  assert(!arguments.residual || !arguments.mask);
  assert(!arguments.max_pool || (convolution.kernel_depth == 1 && !arguments.residual && !arguments.mask));
}

bool packs_in_parts(const Convolution& convolution) {
  return packed_weights_floats(convolution) > kMostPackedFloats;
}

}  // namespace

std::array<int64_t, 3> dst_extents(const Convolution& convolution) {
  const auto outputs = [&](int axis, int64_t kernel) {
    return convolution.extents[axis] + 2 * convolution.padding[axis] - kernel + 1;
  };
  return {outputs(0, convolution.kernel_depth), outputs(1, 3), outputs(2, 3)};
}

int64_t tiles(const Convolution& convolution) { return Tiling(convolution).tiles(); }

std::array<int64_t, 3> pooled_extents(const Convolution& convolution) {
  const auto [depth, height, width] = dst_extents(convolution);
  return {depth, height / 2, width / 2};
}

Convolution backward_data(const Convolution& convolution) {
  Convolution result = convolution;
  std::swap(result.in_channels, result.out_channels);
  std::swap(result.src_batch_stride, result.dst_batch_stride);
  result.extents = dst_extents(convolution);
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t kernel = axis == 0 ? convolution.kernel_depth : 3;
    result.padding[axis] = kernel - 1 - convolution.padding[axis];
  }
  return result;
}

std::optional<std::string> why_unsupported(const Convolution& convolution) {
  if (widest_instruction_set() < InstructionSet::avx2) return "Winograd kernels need AVX2";
  const auto& [batch, in, out, kernel_depth, extents, padding, src_stride, dst_stride] = convolution;
  if (kernel_depth != 1 && kernel_depth != 3) return "Winograd kernels are 3x3 or 3x3x3";
  if (kernel_depth == 1 && (extents[0] != 1 || padding[0] != 0))
    return "a 3x3 kernel takes sources of depth 1";
  for (int axis = 0; axis < 3; ++axis) {
    if (padding[axis] < 0 || padding[axis] > 2) return "Winograd kernels take padding of 0 to 2";
    if (dst_extents(convolution)[axis] < 1) return "the source is smaller than the kernel";
  }
  if (batch < 1 || in < 1 || out < 1) return "the batch and the numbers of channels must be positive";
  return std::nullopt;
}

int64_t packed_weights_floats(const Convolution& convolution) {
  return points(convolution) * PackedLayout(convolution).point_stride;
}

void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads) {
  assert(!why_unsupported(convolution));
  pack_weights_f32_avx2(convolution, in_order(convolution, order, weights), packed, threads);
}

int64_t forward_scratch_floats(const Convolution& convolution, int threads) {
  const ForwardPlan plan(convolution, threads);
  return plan.workspace_floats() * (plan.shared ? 1 : threads);
}

void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads) {
  check(convolution, arguments);
  forward_f32_avx2(convolution, arguments, scratch, threads);
}

int64_t packed_part_floats(const Convolution& convolution) {
  return packs_in_parts(convolution) ? ForwardPlan::packing(convolution).part_floats()
                                     : packed_weights_floats(convolution);
}

int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads) {
  const int64_t workspace = packs_in_parts(convolution) ? ForwardPlan::packing(convolution).workspace_floats()
                                                        : forward_scratch_floats(convolution, threads);
  return odd_lines(workspace) + packed_part_floats(convolution);
}

void packing_forward(const Convolution& convolution, WeightOrder order, const float* weights,
                     const ForwardArguments& arguments, float* scratch, int threads) {
  if (packs_in_parts(convolution)) {
    check(convolution, arguments);
    return packing_forward_f32_avx2(convolution, in_order(convolution, order, weights), arguments, scratch,
                                    threads);
  }
  float* packed = scratch + odd_lines(forward_scratch_floats(convolution, threads));
  pack_weights(convolution, order, weights, packed, threads);
  ForwardArguments with_packed = arguments;
  with_packed.packed_weights = packed;
  forward(convolution, with_packed, scratch, threads);
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  return BackwardWeightsPlan(convolution, threads).scratch_floats();
}

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  assert(!why_unsupported(convolution));
  backward_weights_f32_avx2(convolution, arguments, scratch, threads);
}

}  // namespace tacho::winograd
