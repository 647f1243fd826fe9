#include "kernels/winograd/kernels.h"

#include "kernels/blocked/sum_channels.h"
#include "kernels/winograd/backward_weights_plan.h"
#include "kernels/winograd/forward_plan.h"
#include "kernels/winograd/stages.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

int64_t packed_weights_floats(const Convolution& convolution) {
  return points(convolution) * PackedLayout(convolution).point_stride;
}

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
  const int64_t parts =
      std::min(slices, divide_up(TACHO_ISA::packed_weights_floats(convolution), kPackedAtOnce));
  return std::min(divide_up(slices, parts) * kSliceChannels, convolution.out_channels);
}

void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads) {
  pack_plain_weights(convolution, in_order(convolution, order, weights), packed, threads);
}

Split pack_weights_split(const Convolution& convolution) {
  const PackedLayout layout(convolution);
  return {{{.items = layout.slices * layout.input_chunks,
            .work = kTransformOperations * static_cast<double>(layout.point_stride / kLanes) *
                    points(convolution)}}};
}

int64_t forward_scratch_floats(const Convolution& convolution, int threads) {
  const ForwardPlan plan(convolution, threads);
  return plan.workspace_floats * (plan.shared ? 1 : threads);
}

Split forward_split(const Convolution& convolution, int threads) {
  return ForwardPlan(convolution, threads).split();
}

int64_t packed_part_floats(const Convolution& convolution) {
  return TACHO_ISA::packed_weights_floats(
      part_of(convolution, part_channels(convolution), dst_layout(convolution)));
}

Split packing_forward_split(const Convolution& convolution, int threads) {
  Split result;
  const int64_t channels = part_channels(convolution);
  for (int64_t first = 0; first < convolution.out_channels; first += channels) {
    const Convolution part =
        part_of(convolution, std::min(channels, convolution.out_channels - first), dst_layout(convolution));
    for (const Split& split : {TACHO_ISA::pack_weights_split(part), TACHO_ISA::forward_split(part, threads)})
      result.loops.insert(result.loops.end(), split.loops.begin(), split.loops.end());
  }
  return result;
}

int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads) {
  const int64_t channels = part_channels(convolution);
  const auto floats = [&](int64_t part_channels) {
    const Convolution part = part_of(convolution, part_channels, dst_layout(convolution));
    return odd_lines(TACHO_ISA::packed_weights_floats(part)) +
           TACHO_ISA::forward_scratch_floats(part, threads);
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
    pack_plain_weights(part, part_weights, scratch, threads);
    ForwardArguments part_arguments = arguments;
    part_arguments.packed_weights = scratch;
    part_arguments.dst += offset;
    if (arguments.bias != nullptr) part_arguments.bias += first;
    if (arguments.residual != nullptr) part_arguments.residual += offset;
    if (arguments.mask != nullptr) part_arguments.mask += offset;
    TACHO_ISA::forward(part, part_arguments, scratch + odd_lines(TACHO_ISA::packed_weights_floats(part)),
                       threads);
  }
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  return BackwardWeightsPlan(convolution, threads).scratch_floats() +
         channel_sums_floats(dst_layout(convolution), convolution.batch);
}

Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads) {
  Split result = BackwardWeightsPlan(convolution, threads).split();
  if (with_bias) result.loops.push_back(sum_channels_loop(dst_layout(convolution), convolution.batch));
  return result;
}

}  // namespace

constexpr Kernels kKernels = {
    .packed_weights_floats = packed_weights_floats,
    .pack_weights = pack_weights,
    .pack_weights_split = pack_weights_split,
    .forward_scratch_floats = forward_scratch_floats,
    .forward = forward,
    .forward_split = forward_split,
    .packed_part_floats = packed_part_floats,
    .packing_forward_scratch_floats = packing_forward_scratch_floats,
    .packing_forward = packing_forward,
    .packing_forward_split = packing_forward_split,
    .backward_weights_scratch_floats = backward_weights_scratch_floats,
    .backward_weights = backward_weights,
    .backward_weights_split = backward_weights_split,
};

}  // namespace tacho::winograd::TACHO_ISA
