#pragma once

#include "base/tensor.h"
#include "engine/native/program.h"

namespace tacho::native {

// The taps of a convolution's kernel that ever meet its input: the others always lie in the padding.
struct UsedTaps {
  Extents first, count, padding;  // `padding`: of the convolution with a kernel of these taps alone
  bool operator==(const UsedTaps&) const = default;
};
// Whole axes where the smaller convolution could not be written as one, with equal padding on both sides.
UsedTaps used_taps(const Convolution& op, const Shape& input, const Shape& weight, const Shape& output);

// Inference: cuts the weights to the taps that the program uses.
void cut_to_used_taps(const Program& program, Weights& weights);

}  // namespace tacho::native
