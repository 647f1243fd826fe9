#include "kernels/direct/forward_plan.h"

namespace tacho::direct {
namespace {

constexpr int64_t kPanelInputs = 48 << 10;  // floats of a chunk's inputs that stay in L2

int64_t panel_blocks(const Convolution& convolution, const PackedLayout& packed) {
  const auto inputs_along = [&](int axis) {
    return std::min(convolution.stride[axis], convolution.kernel[axis]);
  };
  const int64_t inputs_per_position = inputs_along(0) * inputs_along(1) * convolution.stride[2];
  const int64_t block = kBlockPositions * inputs_per_position * packed.chunk_blocks(0) * kLanes;
  return std::clamp<int64_t>(kPanelInputs / block, 8, kMaxPanelBlocks);
}

}  // namespace

ForwardPlan::ForwardPlan(const Convolution& convolution, int threads)
    : positions(convolution),
      src(src_layout(convolution)),
      dst(dst_layout(convolution)),
      packed(convolution) {
  const int64_t blocks = positions.blocks();
  panels = divide_up(blocks, panel_blocks(convolution, packed));
  groups = 1;
  if (panels >= 4 * threads) {
    panels = divide_up(panels, threads) * threads;
  } else if (packed.slices % threads == 0) {
    groups = threads;
  } else {
    panels = divide_up(panels, threads) * threads;
  }
  panels = std::min(panels, blocks);
  steps = positions.steps(largest_panel());
}

}  // namespace tacho::direct
