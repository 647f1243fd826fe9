#include "kernels/winograd/backward_weights_plan.h"

namespace tacho::winograd {
namespace {

constexpr int64_t kPanelTiles = 128;
// Sums that do not fit into the caches are read and written again for each panel: then better by all threads
// at once.
constexpr int64_t kLargestPrivateSums = 4 << 20;

}  // namespace

BackwardWeightsPlan::BackwardWeightsPlan(const Convolution& convolution, int threads)
    : tiling(convolution), src(src_layout(convolution)), dst(dst_layout(convolution)) {
  sum_row_stride = dst.blocks * kLanes;
  sum_point_stride = odd_lines(divide_up(convolution.in_channels, kSumRows) * kSumRows * sum_row_stride);
  sums_floats = points(convolution) * sum_point_stride;
  const bool shared = sums_floats > kLargestPrivateSums;
  const int64_t wanted = divide_up(tiling.tiles(), kPanelTiles);
  panels = shared ? wanted : std::min(tiling.tiles(), divide_up(wanted, threads) * threads);
  panel_tiles = divide_up(tiling.tiles(), panels);
  workers = shared ? 1 : std::min<int64_t>(threads, panels);
  channel_stride = panel_tiles * kLanes;
  input_point_stride = odd_lines(src.blocks * channel_stride);
  gradient_point_stride = odd_lines(dst.blocks * channel_stride);
  inputs_floats = points(convolution) * input_point_stride;
  gradients_floats = points(convolution) * gradient_point_stride;
}

}  // namespace tacho::winograd
