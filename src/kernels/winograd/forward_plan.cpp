#include "kernels/winograd/forward_plan.h"

namespace tacho::winograd {
namespace {

constexpr int64_t kPrivatePanelBlocks = 8;
constexpr int64_t kSharedPanelBlocks = 22;
static_assert(std::max(kPrivatePanelBlocks, kSharedPanelBlocks) <= kMaxPanelBlocks);

constexpr int64_t kCachedWeights = 1 << 20;  // floats that each thread may well read on its own

// With few tiles, large weights are most of the traffic: better read once by all threads together. With very
// few, panels of their own would leave threads idle.
bool better_shared(int64_t blocks, int64_t packed_floats, int threads) {
  if (threads == 1) return false;
  return blocks < 4 * threads || (blocks <= kSharedPanelBlocks && packed_floats > kCachedWeights);
}

}  // namespace

ForwardPlan::ForwardPlan(const Convolution& convolution, int threads)
    : tiling(convolution), src(src_layout(convolution)), dst(dst_layout(convolution)), packed(convolution) {
  blocks = tiling.blocks();
  shared = better_shared(blocks, points(convolution) * packed.point_stride, threads);
  const int64_t wanted = divide_up(blocks, shared ? kSharedPanelBlocks : kPrivatePanelBlocks);
  panels = shared ? wanted : std::min(blocks, divide_up(wanted, threads) * threads);
  panel_blocks = divide_up(blocks, panels);
  input_point_stride = odd_lines(src.blocks * kBlockTiles * kLanes);
  input_block_stride = odd_lines(points(convolution) * input_point_stride);
  product_channel_stride = odd_lines(points(convolution) * kBlockTiles * kLanes);
  product_block_stride = dst.blocks * product_channel_stride;
  inputs_floats = panel_blocks * input_block_stride;
  products_floats = panel_blocks * product_block_stride;
}

}  // namespace tacho::winograd
