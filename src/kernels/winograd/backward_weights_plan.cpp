#include "kernels/winograd/backward_weights_plan.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

constexpr int64_t kPrivatePanelTiles = 128;
constexpr int64_t kSharedPanelTiles = 256;
constexpr int64_t kFewTiles = 512;
constexpr int64_t kCachedSums = 4 << 20;  // floats
constexpr int64_t kAllSums = 16 << 20;    // floats of all workers
constexpr int64_t kFewestSumChannels = 64;

// Sums that do not fit into the caches, or that few tiles are added to, are most of the traffic: better one
// set of them for all threads. So are the sums of many threads, and where each had few tiles of its own.
bool better_shared(int64_t tiles, int64_t sums_floats, int threads) {
  if (threads > 1 && tiles < 4 * threads) return true;
  return sums_floats > kCachedSums || (sums_floats > kCachedSums / 4 && tiles <= kFewTiles) ||
         threads * sums_floats > kAllSums;
}

}  // namespace

BackwardWeightsPlan::BackwardWeightsPlan(const Convolution& convolution, int threads)
    : tiling(convolution),
      grid(convolution),
      reduction(convolution),
      src(src_layout(convolution)),
      dst(dst_layout(convolution)),
      in_channels(convolution.in_channels) {
  sum_row_stride = dst.blocks * kLanes;
  const int64_t floats_per_channel = points(convolution) * sum_row_stride;
  const int64_t all_channels = reduction.blocks() * kLanes;
  shared = better_shared(tiling.tiles(), floats_per_channel * all_channels, threads);
  const int64_t wanted = divide_up(tiling.tiles(), shared ? kSharedPanelTiles : kPrivatePanelTiles);
  panels = shared ? wanted : std::min(tiling.tiles(), divide_up(wanted, threads) * threads);
  panel_tiles = divide_up(tiling.tiles(), panels);
  workers = shared ? 1 : std::min<int64_t>(threads, panels);
  tile_parts = shared ? parts_of_each(channel_blocks(), divide_up(panel_tiles, kBlockTiles), threads) : 1;
  unpacked_channels = kInputsAtOnce / parts_of_each(dst.blocks * divide_up(in_channels, kInputsAtOnce),
                                                    kInputsAtOnce, threads);
  const int64_t cached_channels =
      std::max(kFewestSumChannels, kCachedSums / floats_per_channel / kLanes * kLanes);
  const bool in_parts = shared && panels == 1 && reduction.segments == 1;
  sum_channels = in_parts ? std::min(cached_channels, all_channels) : all_channels;
  channel_parts = shared ? parts_of_each(points(convolution), divide_up(sum_channels, kLanes), threads) : 1;
  sum_point_stride = odd_lines(sum_channels * sum_row_stride);
  sums_floats = points(convolution) * sum_point_stride;
  channel_stride = panel_tiles * kLanes;
  input_point_stride = odd_lines(reduction.blocks() * channel_stride);
  gradient_point_stride = odd_lines(dst.blocks * channel_stride);
  inputs_floats = points(convolution) * input_point_stride;
  gradients_floats = points(convolution) * gradient_point_stride;
}

Split BackwardWeightsPlan::split() const {
  const auto tiles = static_cast<double>(tiling.tiles());
  const auto all_points = static_cast<double>(grid.points());
  const double transforms = tiles * all_points * kTransformOperations * static_cast<double>(channel_blocks());
  const double sums = all_points * static_cast<double>(reduction.channels() * dst.blocks);
  const Loop unpacking = {.items = dst.blocks * divide_up(in_channels, unpacked_channels),
                          .work = sums * static_cast<double>(kTransformOperations + workers)};
  if (!shared) return {{{.items = workers, .work = transforms + tiles * sums, .pieces = panels}, unpacking}};
  return {{{.items = channel_blocks() * tile_parts,
            .work = transforms,
            .pieces = channel_blocks() * divide_up(panel_tiles, kBlockTiles),
            .rounds = panels},
           {.items = grid.points() * channel_parts,
            .work = tiles * sums,
            .pieces = grid.points() * divide_up(sum_channels, kLanes),
            .rounds = panels * divide_up(reduction.channels(), sum_channels)},
           unpacking}};
}

}  // namespace tacho::winograd::TACHO_ISA
