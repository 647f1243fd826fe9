#pragma once

#include <array>

#include "kernels/blocked/plane_parts.h"
#include "kernels/blocked/widths.h"

// Sweeps over activations in the layouts nC[d]hw8c and nC[d]hw16c, which oneDNN 2 has for dense tensors only:
// here either side may be a slice of channel blocks of a wider tensor.
namespace tacho::blocked {

// Where the first block of the first image begins, and how many floats further the next image does.
template<typename T>
struct Activation {
  T* data = nullptr;
  int64_t batch_stride = 0;
};
using Source = Activation<const float>;
using Target = Activation<float>;

struct Sweep {
  int64_t batch = 1, channels = 0;
  int64_t cells = 0;  // of a channel of an image
  int64_t lanes = 8;  // channels of a block
};

constexpr int64_t channel_blocks(const Sweep& sweep) { return divide_up(sweep.channels, sweep.lanes); }

constexpr PlaneParts parts_of(const Sweep& sweep) {
  constexpr int64_t kFewestCells = 1024;
  return {sweep.batch * channel_blocks(sweep), sweep.cells, kFewestCells};
}

// How threads share any of these sweeps.
Split sweep_split(const Sweep& sweep);

void copy(const Sweep& sweep, Source src, Target dst);

// y = x * scale + shift, per channel, then ReLU if wanted. `scale` and `shift` are filled up with zeros to
// whole blocks. In place where dst is src.
void scale_shift(const Sweep& sweep, Source src, const float* scale, const float* shift, bool relu,
                 Target dst);

// ELU in place.
void elu(const Sweep& sweep, float alpha, Target y);

// y = x where `by` is above 0, elsewhere 0: the gradient of a ReLU with result `by`. In place where y is x.
void mask(const Sweep& sweep, Source by, Source x, Target y);

struct Pooling {
  int64_t batch = 1, channels = 0;
  std::array<int64_t, 3> input = {1, 1, 1}, output = {1, 1, 1};  // depth, height, width
  std::array<int64_t, 3> kernel = {1, 1, 1}, stride = {1, 1, 1}, padding = {0, 0, 0};
  int64_t lanes = 8;  // channels of a block
};

constexpr int64_t channel_blocks(const Pooling& pooling) {
  return divide_up(pooling.channels, pooling.lanes);
}

// In rows of the output.
constexpr PlaneParts parts_of(const Pooling& pooling) {
  return {pooling.batch * channel_blocks(pooling), pooling.output[0] * pooling.output[1], 1};
}

// One row of columns per thread.
int64_t pooling_scratch_floats(const Pooling& pooling, int threads);

// Cells outside of the input never win, NaN always does.
void max_pool(const Pooling& pooling, Source src, Target dst, float* scratch, int threads);

// Divides by the cells that lie inside, or by all of the kernel's.
void average_pool(const Pooling& pooling, bool count_padding, Source src, Target dst, float* scratch,
                  int threads);

// Of both.
Split pooling_split(const Pooling& pooling);

}  // namespace tacho::blocked
