#pragma once

#include "kernels/winograd/layout.h"

namespace tacho::winograd {

// How the work of a forward convolution is cut. Transformed inputs are [tile block][point][channel
// block][6][8], products [tile block][channel block][point][6][8]. A panel of tile blocks goes through all
// three stages: input transform, one matrix product per point, output transform.
struct ForwardPlan {
  ForwardPlan(const Convolution& convolution, int threads);

  int64_t panel_begin(int64_t panel) const { return blocks * panel / panels; }

  Tiling tiling;
  ActivationLayout src, dst;
  PackedLayout packed;
  int64_t blocks, panels, panel_blocks;  // panel_blocks: the largest panel's
  bool shared;                           // all threads work on one panel at a time, or each on its own
  int64_t input_point_stride, input_block_stride;
  int64_t product_channel_stride, product_block_stride;
  int64_t inputs_floats, products_floats;  // of one panel

  int64_t workspace_floats() const { return inputs_floats + products_floats; }
};

inline constexpr int64_t kMaxPanelBlocks = 32;

}  // namespace tacho::winograd
