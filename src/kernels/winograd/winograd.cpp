#include "kernels/winograd/winograd.h"

#include <cassert>

#include "base/cpu.h"
#include "kernels/blocked/sum_channels.h"
#include "kernels/winograd/avx2.h"
#include "kernels/winograd/backward_weights_plan.h"
#include "kernels/winograd/forward_plan.h"

namespace tacho::winograd {
namespace {

// Floats: 64 MiB, beyond all layers but those of hundreds of channels in 3D, whose inputs are transformed
// once for each part.
constexpr int64_t kPackedAtOnce = 16 << 20;

PlainWeights in_order(const Convolution& convolution, WeightOrder order, const float* weights) {
  const int64_t pair = taps(convolution);
  if (order == WeightOrder::flipped) return {weights, pair, convolution.out_channels * pair, true};
  return {weights, convolution.in_channels * pair, pair, false};
}

// The convolution to some of the output channels, which writes into its slice of the whole's.
Convolution part_of(const Convolution& convolution, int64_t out_channels, const ActivationLayout& stored) {
  Convolution part = convolution;
  part.out_channels = out_channels;
  part.dst_batch_stride = stored.batch_stride;
  return part;
}

// Output channels of each part but the last; all of them where there is one.
int64_t part_channels(const Convolution& convolution) {
  const int64_t slices = PackedLayout(convolution).slices;
  const int64_t parts = std::min(slices, divide_up(packed_weights_floats(convolution), kPackedAtOnce));
  return std::min(divide_up(slices, parts) * kSliceChannels, convolution.out_channels);
}

bool is_known(const std::array<int, 3>& kernel) {
  if (kernel[0] != 1) return kernel == std::array{3, 3, 3};
  bool known = false;
  for_each_flat_kernel([&]<int rows, int columns>() { known |= kernel[1] == rows && kernel[2] == columns; });
  return known;
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
  if (widest_instruction_set() < InstructionSet::avx2) return "Winograd kernels need AVX2";
  const auto& [batch, in, out, kernel, extents, padding, src_stride, dst_stride] = convolution;
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
  return points(convolution) * PackedLayout(convolution).point_stride;
}

void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads) {
  assert(!why_unsupported(convolution));
  pack_weights_f32_avx2(convolution, in_order(convolution, order, weights), packed, threads);
}

Split pack_weights_split(const Convolution& convolution) {
  const PackedLayout layout(convolution);
  return {{{.items = layout.slices * layout.input_chunks,
            .work = kTransformOperations * static_cast<double>(layout.point_stride / kLanes) *
                    points(convolution)}}};
}

int64_t forward_scratch_floats(const Convolution& convolution, int threads) {
  const ForwardPlan plan(convolution, threads);
  return plan.workspace_floats() * (plan.shared ? 1 : threads);
}

void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads) {
  assert(!why_unsupported(convolution));
  assert(!arguments.max_pool || (can_max_pool(convolution) && !arguments.residual && !arguments.mask));
  forward_f32_avx2(convolution, arguments, scratch, threads);
}

Split forward_split(const Convolution& convolution, int threads) {
  return ForwardPlan(convolution, threads).split();
}

int64_t packed_part_floats(const Convolution& convolution) {
  return packed_weights_floats(part_of(convolution, part_channels(convolution), dst_layout(convolution)));
}

Split packing_forward_split(const Convolution& convolution, int threads) {
  Split result;
  const int64_t channels = part_channels(convolution);
  for (int64_t first = 0; first < convolution.out_channels; first += channels) {
    const Convolution part =
        part_of(convolution, std::min(channels, convolution.out_channels - first), dst_layout(convolution));
    for (const Split& split : {pack_weights_split(part), forward_split(part, threads)})
      result.loops.insert(result.loops.end(), split.loops.begin(), split.loops.end());
  }
  return result;
}

int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads) {
  const int64_t channels = part_channels(convolution);
  const auto floats = [&](int64_t part_channels) {
    const Convolution part = part_of(convolution, part_channels, dst_layout(convolution));
    return odd_lines(packed_weights_floats(part)) + forward_scratch_floats(part, threads);
  };
  const int64_t rest = convolution.out_channels % channels;
  return rest == 0 ? floats(channels) : std::max(floats(channels), floats(rest));
}

void packing_forward(const Convolution& convolution, WeightOrder order, const float* weights,
                     const ForwardArguments& arguments, float* scratch, int threads) {
  const ActivationLayout stored = arguments.max_pool ? pooled_layout(convolution) : dst_layout(convolution);
  const PlainWeights plain = in_order(convolution, order, weights);
  const int64_t channels = part_channels(convolution);
  for (int64_t first = 0; first < convolution.out_channels; first += channels) {
    const Convolution part =
        part_of(convolution, std::min(channels, convolution.out_channels - first), stored);
    const int64_t offset = first / kLanes * stored.block_stride;
    PlainWeights part_weights = plain;
    part_weights.data += first * plain.out_stride;
    pack_weights_f32_avx2(part, part_weights, scratch, threads);
    ForwardArguments part_arguments = arguments;
    part_arguments.packed_weights = scratch;
    part_arguments.dst += offset;
    if (arguments.bias != nullptr) part_arguments.bias += first;
    if (arguments.residual != nullptr) part_arguments.residual += offset;
    if (arguments.mask != nullptr) part_arguments.mask += offset;
    forward(part, part_arguments, scratch + odd_lines(packed_weights_floats(part)), threads);
  }
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  return BackwardWeightsPlan(convolution, threads).scratch_floats() +
         blocked::channel_sums_floats(dst_layout(convolution), convolution.batch);
}

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  assert(!why_unsupported(convolution));
  backward_weights_f32_avx2(convolution, arguments, scratch, threads);
}

Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads) {
  Split result = BackwardWeightsPlan(convolution, threads).split();
  if (with_bias)
    result.loops.push_back(blocked::sum_channels_loop(dst_layout(convolution), convolution.batch));
  return result;
}

}  // namespace tacho::winograd
