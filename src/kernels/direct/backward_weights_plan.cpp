#include "kernels/direct/backward_weights_plan.h"

namespace tacho::direct::TACHO_ISA {
namespace {

constexpr int64_t kPanelPositions = 200;
constexpr int64_t kFewPositions = 96;        // of an image: too few to be a panel
constexpr int64_t kPrivateSums = 256 << 10;  // floats that stay in a core's caches
constexpr int64_t kAllSums = 16 << 20;       // floats of all workers

bool is_pointwise(const Convolution& convolution) {
  constexpr std::array<int64_t, 3> kOnes = {1, 1, 1}, kZeros = {0, 0, 0};
  return convolution.kernel == kOnes && convolution.stride == kOnes && convolution.padding == kZeros;
}

Convolution flattened(Convolution convolution) {
  if (!is_pointwise(convolution)) return convolution;
  const auto& [depth, height, width] = convolution.extents;
  convolution.extents = {1, 1, depth * height * width};
  return convolution;
}

int64_t positions_of(const ActivationLayout& layout) { return layout.block_stride / kLanes; }

}  // namespace

BackwardWeightsPlan::BackwardWeightsPlan(const Convolution& wanted, int threads)
    : convolution(flattened(wanted)), src(src_layout(convolution)), dst(dst_layout(convolution)) {
  const int64_t image_positions = positions_of(dst);
  all_positions = convolution.batch * image_positions;
  in_place = is_pointwise(convolution) && image_positions >= kFewPositions;
  panels = in_place ? convolution.batch * divide_up(image_positions, kPanelPositions)
                    : divide_up(all_positions, kPanelPositions);
  panel_positions = divide_up(all_positions, panels);

  sum_row_stride = src.blocks * kLanes;
  sum_tap_stride = divide_up(convolution.out_channels, kSumRows) * kSumRows * sum_row_stride;
  const int64_t floats = taps(convolution) * sum_tap_stride;
  shared = threads == 1 || floats > kPrivateSums || threads * floats > kAllSums || panels < 2 * threads;
  workers = shared ? 1 : threads;
  out_parts = shared ? std::min<int64_t>(threads, dst.blocks) : 1;
  // Few output channels: each of their parts is cut along taps and input channels too.
  const bool few = shared && out_parts < threads;
  const int64_t in_groups = divide_up(src.blocks, kSumVectors);
  tap_parts = few ? parts_of_each(out_parts, taps(convolution), threads) : 1;
  in_parts = few ? parts_of_each(out_parts * tap_parts, in_groups, threads) : 1;
  const bool sums_are_the_gradient = workers == 1 && taps(convolution) == 1 &&
                                     convolution.in_channels % kLanes == 0 &&
                                     convolution.out_channels % kSumRows == 0;
  sums_floats = sums_are_the_gradient ? 0 : floats;

  workspaces = in_place ? 0 : threads;
  const int64_t gathered_blocks = divide_up(dst.blocks, out_parts) + std::min(src.blocks, kSumVectors);
  workspace_floats = gathered_blocks * panel_positions * kLanes;
}

BackwardWeightsPlan::Part BackwardWeightsPlan::part(int64_t index) const {
  const auto range = [](int64_t count, int64_t at, int64_t parts_of) {
    return Range{count * at / parts_of, count * (at + 1) / parts_of};
  };
  const Range groups = range(divide_up(src.blocks, kSumVectors), index % in_parts, in_parts);
  return {range(dst.blocks, index / in_parts / tap_parts, out_parts),
          range(taps(convolution), index / in_parts % tap_parts, tap_parts),
          {groups.begin * kSumVectors, std::min(groups.end * kSumVectors, src.blocks)}};
}

Split BackwardWeightsPlan::split() const {
  const auto sums = static_cast<double>(taps(convolution) * convolution.out_channels * src.blocks);
  const double products = sums * static_cast<double>(all_positions);
  Split result = {{shared
                       ? Loop{.items = parts(),
                              .work = products,
                              .pieces = dst.blocks * taps(convolution) * divide_up(src.blocks, kSumVectors)}
                       : Loop{.items = workers, .work = products, .pieces = panels}}};
  if (sums_floats > 0) {
    result.loops.push_back(
        {.items = convolution.out_channels * taps(convolution), .work = sums * static_cast<double>(workers)});
  }
  return result;
}

}  // namespace tacho::direct::TACHO_ISA
