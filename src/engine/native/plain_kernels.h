#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "graph/op.h"
#include "kernels/blocked/blocked.h"

// Small kernels that oneDNN does not have or does not do right, on row-major tensors unless said otherwise.
namespace tacho::native {

// Of `count` elements in any layout, padding included: zeros stay zeros. `sum` may be `a` or `b`.
void add(int64_t count, const float* a, const float* b, float* sum);
void add_relu(int64_t count, const float* a, const float* b, float* sum);
// Of a matrix by rows, one number a column.
void sum_rows(int64_t rows, int64_t columns, const float* matrix, float* sums);

// For each output position along an axis: the input cells [begin, end) it averages and what it divides by.
struct AxisWindow {
  int64_t begin, end;
  float divisor;
};
struct AxisWindows {
  int64_t input = 0;
  std::vector<AxisWindow> windows;
};
std::vector<AxisWindows> adaptive_windows(const Shape& input, const Shape& output);
std::vector<AxisWindows> pooling_windows(const AveragePool& op, const Shape& input, const Shape& output);

// One plane per image and channel; the windows of an output cell are the product of its axes' windows.
void average_windows(const std::vector<AxisWindows>& axes, int64_t planes, const float* x, float* y);
void average_windows_backward(const std::vector<AxisWindows>& axes, int64_t planes, const float* dy,
                              float* dx);

// An activation whose planes, one for each image and group of neighbouring channels, hold cells row-major.
struct Cells {
  int64_t planes = 1, lanes = 1;  // floats of a cell
  std::array<int64_t, 3> extents = {1, 1, 1};
};

// Rows that crop() and fence() write, which threads share.
int64_t rows_of(const Cells& cells);

// The cells of x from `begin` on, zeros where there are none.
void crop(const Cells& cells, const float* x, const std::array<int64_t, 3>& begin,
          const std::array<int64_t, 3>& size, float* y);

// y = x, but `outside` in cells outside of the bounds: where they begin and end along the last one to three
// axes. In place where y is x.
void fence(const Cells& cells, const float* x, std::span<const int64_t> bounds, float outside, float* y);

void copy_bytes(const std::byte* from, int64_t bytes, std::byte* to);
Split copy_split(int64_t bytes);

// Of activations in blocks of any number of channels; of row-major tensors, as one channel of one image, in
// blocks of one. Elements count in row-major order either way; those that fill up blocks are zeros and stay
// so. `mask`: which were kept, one block behind the other.
void dropout(const blocked::Sweep& sweep, const Random& stream, double probability, blocked::Source x,
             blocked::Target y, uint8_t* mask);
void dropout_backward(const blocked::Sweep& sweep, double probability, const uint8_t* mask,
                      blocked::Source dy, blocked::Target dx);

void softmax_cross_entropy(double smoothing, int64_t images, int64_t classes, const float* logits,
                           const int64_t* labels, float* loss, float* probabilities);
void softmax_cross_entropy_backward(double smoothing, int64_t images, int64_t classes,
                                    const float* probabilities, const int64_t* labels, float* dlogits);

// `cells`: spatial elements of one channel of one image.
void dice_loss(int64_t images, int64_t channels, int64_t cells, const float* x, const float* target,
               float* loss, float* sums);
void dice_loss_backward(int64_t images, int64_t channels, int64_t cells, const float* x, const float* target,
                        const float* sums, float* dx);

}  // namespace tacho::native
