#pragma once

#include "kernels/direct/packed_layout.h"
#include "kernels/split.h"

namespace tacho::direct::TACHO_ISA {

struct Range {
  int64_t begin, end;
};

// How the work of a weight gradient is cut: into panels of positions of the destination, whose products of
// source and gradient are added to sums [tap][output channel][input channel].
struct BackwardWeightsPlan {
  BackwardWeightsPlan(const Convolution& convolution, int threads);

  int64_t panel_begin(int64_t panel) const { return all_positions * panel / panels; }
  // What of shared sums one thread adds to: blocks of output channels, taps, blocks of input channels.
  struct Part {
    Range out, taps, in;
  };
  Part all() const { return {{0, dst.blocks}, {0, taps(convolution)}, {0, src.blocks}}; }
  Part part(int64_t index) const;
  int64_t parts() const { return out_parts * tap_parts * in_parts; }
  int64_t scratch_floats() const { return workspaces * workspace_floats + workers * sums_floats; }
  Split split() const;

  Convolution convolution;  // a pointwise one has all its positions along the last axis
  ActivationLayout src, dst;
  // Channels lie side by side position by position, so that nothing is gathered before it is multiplied. A
  // panel is a part of one image then.
  bool in_place;
  int64_t all_positions, panels, panel_positions;  // panel_positions: the largest panel's
  // All threads add to one set of sums, each to parts of it; or each worker has panels and sums of its own.
  bool shared;
  int64_t workers;                         // sets of sums
  int64_t out_parts, tap_parts, in_parts;  // of a shared one
  int64_t workspaces, workspace_floats;    // of threads that gather
  int64_t sum_row_stride, sum_tap_stride;  // of the sums
  int64_t sums_floats;                     // of one worker; 0 where the sums are the weights' gradient
};

}  // namespace tacho::direct::TACHO_ISA
