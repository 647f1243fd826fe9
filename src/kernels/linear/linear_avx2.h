#pragma once

#include "kernels/linear/linear.h"

// The layer's kernel for CPUs with AVX2 and FMA, and how it cuts the work.
namespace tacho::linear {

inline constexpr int64_t kSliceOutputs = 16;  // outputs computed at once
inline constexpr int64_t kMaxRows = 6;        // images computed at once

constexpr int64_t slices(const Layer& layer) { return divide_up(layer.outputs, kSliceOutputs); }
constexpr int64_t sums_floats(const Layer& layer) { return slices(layer) * layer.batch * kSliceOutputs; }
// Images are computed in groups of at most kMaxRows.
constexpr int64_t groups(const Layer& layer) { return divide_up(layer.batch, kMaxRows); }
// Inputs taken at once: so few that the weights of a slice stay in L1 until all groups have used them; more
// where there is only one.
constexpr int64_t block_inputs(const Layer& layer) { return groups(layer) == 1 ? 2048 : 192; }
// A block of inputs is copied to [group][input / 8][kMaxRows][8].
constexpr int64_t group_floats(const Layer& layer) { return block_inputs(layer) * kMaxRows; }
constexpr int64_t copy_floats(const Layer& layer) { return groups(layer) * group_floats(layer); }

void forward_f32_avx2(const Layer& layer, const Arguments& arguments, float* scratch, int threads);

}  // namespace tacho::linear
