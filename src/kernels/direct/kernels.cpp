#include "kernels/direct/kernels.h"

#include "kernels/blocked/sum_channels.h"
#include "kernels/direct/stages.h"

namespace tacho::direct::TACHO_ISA {
namespace {

int64_t packed_weights_floats(const Convolution& convolution, Direction direction) {
  return PackedLayout(convolution, direction).floats();
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
  run_gather(GatherPlan(convolution, direction, threads), arguments, scratch, threads);
}

Split gather_split(const Convolution& convolution, Direction direction, int threads) {
  return {{GatherPlan(convolution, direction, threads).loop()}};
}

int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
  return plan.scratch_floats() + channel_sums_floats(plan.dst, convolution.batch);
}

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads) {
  run_backward_weights(BackwardWeightsPlan(convolution, threads), arguments, scratch, threads);
}

Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads) {
  const BackwardWeightsPlan plan(convolution, threads);
  Split result = plan.split();
  if (with_bias) result.loops.push_back(sum_channels_loop(plan.dst, convolution.batch));
  return result;
}

}  // namespace

constexpr Kernels kKernels = {
    .packed_weights_floats = packed_weights_floats,
    .pack_weights = pack_weights,
    .pack_weights_split = pack_weights_split,
    .gather_scratch_floats = gather_scratch_floats,
    .gather = gather,
    .gather_split = gather_split,
    .backward_weights_scratch_floats = backward_weights_scratch_floats,
    .backward_weights = backward_weights,
    .backward_weights_split = backward_weights_split,
};

}  // namespace tacho::direct::TACHO_ISA
