#pragma once

#include "kernels/split.h"
#include "kernels/winograd/packed_layout.h"

namespace tacho::winograd::TACHO_ISA {

// Slices of output channels [begin, end).
struct SliceGroup {
  int64_t begin, end;

  int64_t first_channel_block() const { return begin * kSliceChannels / kLanes; }
  int64_t end_channel_block() const { return end * kSliceChannels / kLanes; }
};

// How the work of a forward convolution is cut. Transformed inputs are [tile block][point][channel
// block][6][8], products [tile block][channel block][point][6][8]. A panel of tile blocks goes through all
// three stages: input transform, then for each group of output channels one matrix product per point and
// the output transform, so that few products wait at a time.
struct ForwardPlan {
  ForwardPlan(const Convolution& convolution, int threads);

  SliceGroup group(int64_t index) const {
    return {packed.slices * index / groups, packed.slices * (index + 1) / groups};
  }
  int64_t panel_begin(int64_t panel) const { return blocks * panel / panels; }
  // Slices that one thread multiplies at a point of a shared panel.
  SliceGroup slice_part(int64_t part) const {
    return {packed.slices * part / slice_parts, packed.slices * (part + 1) / slice_parts};
  }

  Tiling tiling;
  PointGrid grid;
  Reduction reduction;
  ActivationLayout src, dst;
  PackedLayout packed;
  int64_t blocks, panels, panel_blocks;  // panel_blocks: the largest panel's
  int64_t groups;                        // of output channels whose products are kept at a time
  int64_t slice_parts;                   // of a shared panel's, at each point
  bool shared;                           // all threads work on one panel at a time, or each on its own
  int64_t input_point_stride, input_block_stride;
  int64_t product_channel_stride, product_block_stride;
  int64_t inputs_floats, products_floats;  // of one panel
  int64_t workspace_floats;                // from one thread's to the next one's

  Split split() const;
};

inline constexpr int64_t kMaxPanelBlocks = 32;

}  // namespace tacho::winograd::TACHO_ISA
