#pragma once

#include "kernels/direct/positions.h"
#include "kernels/split.h"

namespace tacho::direct::TACHO_ISA {

// How the work of a convolution, or of the gradient of its source, is cut. A task is a panel of position
// blocks and a group of slices. It goes through the chunks of channels one by one, sums wait where they are
// written to.
struct GatherPlan {
  GatherPlan(const Convolution& convolution, Direction direction, int threads);

  int64_t panel_begin(int64_t panel) const { return positions.blocks() * panel / panels; }
  int64_t largest_panel() const { return divide_up(positions.blocks(), panels); }
  int64_t group_begin(int64_t group) const { return packed.slices * group / groups; }
  Loop loop() const { return {.items = panels * groups, .pieces = positions.blocks() * packed.slices}; }

  Positions positions;
  PackedLayout packed;
  int64_t panels, groups;
  int64_t steps;  // room that each thread needs for those of a panel
};

inline constexpr int64_t kMaxPanelBlocks = 64;

}  // namespace tacho::direct::TACHO_ISA
