#pragma once

#include "kernels/split.h"
#include "kernels/winograd/packed_layout.h"

namespace tacho::winograd::TACHO_ISA {

// How the work of a weight gradient is cut. Transformed inputs and gradients of a panel of tiles are
// [point][channel block][tile][8]; sums over tiles are [point][input channel][output channel]. Input channels
// are those of the reduction.
struct BackwardWeightsPlan {
  BackwardWeightsPlan(const Convolution& convolution, int threads);

  int64_t panel_begin(int64_t panel) const { return tiling.tiles() * panel / panels; }
  // Where parts of a shared panel's tiles, and of input channels whose sums are made at once, begin.
  int64_t tile_part_begin(int64_t part, int64_t tiles) const {
    return std::min(divide_up(tiles, kBlockTiles) * part / tile_parts * kBlockTiles, tiles);
  }
  int64_t channel_part_begin(int64_t part, int64_t begin, int64_t end) const {
    return std::min(begin + divide_up(end - begin, kLanes) * part / channel_parts * kLanes, end);
  }
  int64_t workspace_floats() const { return inputs_floats + gradients_floats; }
  int64_t worker_stride() const {
    return workspace_floats() + sums_floats + (workers > 1 ? blocked::kWorkspaceGap : 0);
  }
  int64_t scratch_floats() const { return workers * worker_stride(); }
  int64_t channel_blocks() const { return reduction.blocks() + dst.blocks; }  // inputs, then gradients
  Split split() const;

  Tiling tiling;
  PointGrid grid;
  Reduction reduction;
  ActivationLayout src, dst;
  int64_t panels, panel_tiles;        // panel_tiles: the largest panel's
  bool shared;                        // all threads work on one panel at a time, or each on its own
  int64_t workers;                    // that have a workspace and sums of their own
  int64_t tile_parts, channel_parts;  // of a shared panel, for each channel block and for each point
  int64_t in_channels;
  int64_t unpacked_channels;  // input channels that one thread unpacks at once, of a block of output channels
  int64_t sum_channels;    // input channels whose sums are made at once: all of them, unless one panel is all
  int64_t channel_stride;  // of inputs and gradients
  int64_t input_point_stride, gradient_point_stride;
  int64_t sum_row_stride, sum_point_stride;
  int64_t inputs_floats, gradients_floats, sums_floats;  // of one worker
};

}  // namespace tacho::winograd::TACHO_ISA
