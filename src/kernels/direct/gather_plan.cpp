#include "kernels/direct/gather_plan.h"

namespace tacho::direct::TACHO_ISA {
namespace {

// Floats of a chunk that are read and stay in L2.
constexpr int64_t kPanelReads = (kLanes == 16 ? 96 : 48) << 10;

int64_t panel_blocks(const Convolution& convolution, Direction direction, const PackedLayout& packed) {
  const auto reads_along = [&](int axis) {
    return direction == Direction::forward ? std::min(convolution.stride[axis], convolution.kernel[axis]) : 1;
  };
  const int64_t row_step = direction == Direction::forward ? convolution.stride[2] : 1;
  const int64_t reads_per_position = reads_along(0) * reads_along(1) * row_step;
  const int64_t block = kBlockPositions * reads_per_position * packed.chunk_blocks(0) * kLanes;
  return std::clamp<int64_t>(kPanelReads / block, 8, kMaxPanelBlocks);
}

constexpr double kUneven = 1.4;  // times the ideal share of a thread

}  // namespace

GatherPlan::GatherPlan(const Convolution& convolution, Direction direction, int threads)
    : positions(convolution, direction), packed(convolution, direction) {
  const int64_t blocks = positions.blocks();
  panels = divide_up(blocks, panel_blocks(convolution, direction, packed));
  groups = 1;
  if (panels >= 4 * threads) {
    panels = divide_up(panels, threads) * threads;
  } else if (packed.slices % threads == 0) {
    groups = threads;
  } else {
    panels = divide_up(panels, threads) * threads;
  }
  panels = std::min(panels, blocks);
  // Few panels leave threads without work.
  if (groups == 1 && largest_share(loop(), threads) * threads > kUneven)
    groups = parts_of_each(panels, packed.slices, threads);
  steps = positions.steps(largest_panel());
}

}  // namespace tacho::direct::TACHO_ISA
