#pragma once

#include <array>
#include <cstdint>

#include "kernels/split.h"

// Max pooling as PyTorch does it: a NaN in a window is its maximum (oneDNN drops it), the first of equals
// wins, and cells outside of the input never do.
namespace tacho::max_pool {

// Of activations in blocks of channels, [image][block][cell][lane]: one lane is row-major order, 8 or 16 are
// oneDNN's blocks, one block is channels last. Images may be further apart than they are large.
struct Pooling {
  int64_t batch = 1, blocks = 1, lanes = 1;
  std::array<int64_t, 3> input = {1, 1, 1}, output = {1, 1, 1};  // depth, height, width
  std::array<int64_t, 3> kernel = {1, 1, 1}, stride = {1, 1, 1}, padding = {0, 0, 0};
  int64_t src_batch_stride = 0, dst_batch_stride = 0;  // in floats
};

// As many as the outputs of a dense destination.
int64_t argmax_bytes(const Pooling& pooling);

// `argmax`: the number of each maximum's tap in the kernel, for backward(), or null. Kernels have at most 256
// taps.
void forward(const Pooling& pooling, const float* src, float* dst, uint8_t* argmax, int threads);
Split forward_split(const Pooling& pooling);

// `diff_src` is laid out as src, `diff_dst` as dst. Sums do not depend on the number of threads.
void backward(const Pooling& pooling, const uint8_t* argmax, const float* diff_dst, float* diff_src,
              int threads);
Split backward_split(const Pooling& pooling);

}  // namespace tacho::max_pool
