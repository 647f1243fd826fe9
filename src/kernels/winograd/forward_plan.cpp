#include "kernels/winograd/forward_plan.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

constexpr int64_t kSharedPanelBlocks = 22;
static_assert(kSharedPanelBlocks <= kMaxPanelBlocks);

constexpr int64_t kWidePanelBlocks = 8;

// Thin layers gain by inputs that stay in L2, wide ones by reading their weights less often.
[[maybe_unused]] int64_t blocks_of_avx2(const Convolution& convolution) {
  constexpr int64_t kThinPanelBlocks = 6, kWideChannels = 256;
  return convolution.in_channels < kWideChannels ? kThinPanelBlocks : kWidePanelBlocks;
}

// Products by AVX-512 take a third of the time of those by AVX2, so that reading weights seldom is worth more
// than inputs in L2. Two panels for each thread let it make up for cut tiles, of which the last ones are.
[[maybe_unused]] int64_t blocks_of_avx512(int64_t blocks, int64_t input_block_floats, int threads) {
  constexpr int64_t kPanelFloats = 1 << 20, kFewBlocks = 11;
  const int64_t near = std::clamp(kPanelFloats / input_block_floats, kFewBlocks, kMaxPanelBlocks);
  return std::max(std::min(near, divide_up(blocks, 2 * threads)), kWidePanelBlocks);
}

constexpr int64_t kCachedWeights = 1 << 20;  // floats that each thread may well read on its own

// With few tiles, large weights are most of the traffic: better read once by all threads together. With very
// few, panels of their own would leave threads idle.
bool better_shared(int64_t blocks, int64_t packed_floats, int threads) {
  if (threads == 1) return false;
  return blocks < 4 * threads || (blocks <= kSharedPanelBlocks && packed_floats > kCachedWeights);
}

}  // namespace

ForwardPlan::ForwardPlan(const Convolution& convolution, int threads)
    : tiling(convolution),
      grid(convolution),
      reduction(convolution),
      src(src_layout(convolution)),
      dst(dst_layout(convolution)),
      packed(convolution) {
  blocks = tiling.blocks();
  shared = better_shared(blocks, points(convolution) * packed.point_stride, threads);
  input_point_stride = odd_lines(reduction.blocks() * kBlockTiles * kLanes);
  input_block_stride = odd_lines(points(convolution) * input_point_stride);
  const int64_t panel = shared                 ? kSharedPanelBlocks
                        : is_deep(convolution) ? kWidePanelBlocks
                        : kLanes == 16         ? blocks_of_avx512(blocks, input_block_stride, threads)
                                               : blocks_of_avx2(convolution);
  const int64_t wanted = divide_up(blocks, panel);
  panels = shared ? wanted : std::min(blocks, divide_up(wanted, threads) * threads);
  panel_blocks = divide_up(blocks, panels);
  groups = shared || is_deep(convolution) ? 1 : packed.slices;
  slice_parts = parts_of_each(points(convolution), packed.slices, threads);
  product_channel_stride = odd_lines(points(convolution) * kBlockTiles * kLanes);
  product_block_stride =
      divide_up(packed.slices, groups) * (kSliceChannels / kLanes) * product_channel_stride;
  inputs_floats = panel_blocks * input_block_stride;
  products_floats = panel_blocks * product_block_stride;
  workspace_floats = inputs_floats + products_floats + (shared || threads == 1 ? 0 : blocked::kWorkspaceGap);
}

Split ForwardPlan::split() const {
  const auto tiles = static_cast<double>(tiling.tiles());
  const double transforms = tiles * kTransformOperations * static_cast<double>(grid.points());
  const double products = tiles * static_cast<double>(grid.points() * reduction.channels() * dst.blocks);
  const double inputs = transforms * static_cast<double>(reduction.blocks()),
               outputs = transforms * static_cast<double>(dst.blocks);
  if (!shared) return {{{.items = panels, .work = inputs + products + outputs, .pieces = blocks}}};
  return {{{.items = panel_blocks * reduction.blocks(), .work = inputs, .rounds = panels},
           {.items = grid.points() * slice_parts,
            .work = products,
            .pieces = grid.points() * packed.slices,
            .rounds = panels},
           {.items = panel_blocks * dst.blocks, .work = outputs, .rounds = panels}}};
}

}  // namespace tacho::winograd::TACHO_ISA
