#include "engine/native/plain_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "graph/dropout.h"

namespace tacho::native {
namespace {

constexpr int64_t kCopiedBytes = 64 << 10;  // by a thread at once

// Calls visit(input index, output index, weight) for every cell that each output cell of a plane averages.
template<typename Visit>
void for_each_cell(const std::vector<AxisWindows>& axes, size_t axis, int64_t in, int64_t out, float weight,
                   const Visit& visit) {
  if (axis == axes.size()) return visit(in, out, weight);
  const AxisWindows& a = axes[axis];
  for (size_t o = 0; o < a.windows.size(); ++o) {
    const AxisWindow& window = a.windows[o];
    const int64_t out_here = out * static_cast<int64_t>(a.windows.size()) + static_cast<int64_t>(o);
    for (int64_t i = window.begin; i < window.end; ++i) {
      for_each_cell(axes, axis + 1, in * a.input + i, out_here, weight / window.divisor, visit);
    }
  }
}

int64_t input_cells(const std::vector<AxisWindows>& axes) {
  int64_t cells = 1;
  for (const AxisWindows& axis : axes) cells *= axis.input;
  return cells;
}

int64_t output_cells(const std::vector<AxisWindows>& axes) {
  int64_t cells = 1;
  for (const AxisWindows& axis : axes) cells *= static_cast<int64_t>(axis.windows.size());
  return cells;
}

// Cells of a block of channels: of which image and block, which of its cells, and where in a mask.
struct Part {
  int64_t image, block, begin, cells, mask;
};

// Calls visit(part) for all parts of a sweep, on all threads.
template<typename Visit>
void for_parts(const blocked::Sweep& sweep, const Visit& visit) {
  const int64_t blocks = channel_blocks(sweep);
  const blocked::PlaneParts parts = parts_of(sweep);
#pragma omp parallel for schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) {
    const int64_t plane = parts.plane(item), begin = parts.begin(item);
    visit(Part{plane / blocks, plane % blocks, begin, parts.end(item) - begin,
               (plane * sweep.cells + begin) * sweep.lanes});
  }
}

// Draws for `cells` cells of some lanes: `first` is the row-major index of the first one, those of a cell are
// `step` apart.
void draw(Random stream, double probability, int64_t first, int64_t step, int64_t lanes, int64_t cells,
          uint8_t* mask) {
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t cell = 0; cell < cells; ++cell) {
      const auto index = static_cast<uint64_t>(first + lane * step + cell);
      mask[cell * lanes + lane] = dropout_keeps(stream, index, probability) ? 1 : 0;
    }
  }
}

// y = x, but larger, where the mask says so, elsewhere 0.
void keep(const blocked::Sweep& sweep, const Part& part, double probability, const uint8_t* mask,
          blocked::Source x, blocked::Target y) {
  const int64_t first = (part.block * sweep.cells + part.begin) * sweep.lanes;
  const int64_t count = part.cells * sweep.lanes;
  const auto scale = static_cast<float>(1 / (1 - probability));
  const uint8_t* kept = mask + part.mask;
  const float* from = x.data + part.image * x.batch_stride + first;
  float* to = y.data + part.image * y.batch_stride + first;
  // By bits, as no processor foresees which way a branch would go.
#pragma omp simd
  for (int64_t i = 0; i < count; ++i)
    to[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(scale * from[i]) & -uint32_t{kept[i]});
}

}  // namespace

std::vector<AxisWindows> adaptive_windows(const Shape& input, const Shape& output) {
  std::vector<AxisWindows> axes;
  for (size_t axis = 2; axis < input.size(); ++axis) {
    const int64_t in = input[axis], out = output[axis];
    AxisWindows windows{in, {}};
    for (int64_t o = 0; o < out; ++o) {
      const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
      windows.windows.push_back({begin, end, static_cast<float>(end - begin)});
    }
    axes.push_back(std::move(windows));
  }
  return axes;
}

std::vector<AxisWindows> pooling_windows(const AveragePool& op, const Shape& input, const Shape& output) {
  std::vector<AxisWindows> axes;
  for (size_t axis = 0; axis < op.kernel.size(); ++axis) {
    const int64_t in = input[axis + 2];
    AxisWindows windows{in, {}};
    for (int64_t o = 0; o < output[axis + 2]; ++o) {
      const int64_t first = o * op.stride[axis] - op.padding[axis];
      const int64_t last = std::min(first + op.kernel[axis], in + op.padding[axis]);
      const int64_t begin = std::max<int64_t>(first, 0), end = std::min(last, in);
      windows.windows.push_back(
          {begin, end, static_cast<float>(op.count_padding ? last - first : end - begin)});
    }
    axes.push_back(std::move(windows));
  }
  return axes;
}

void average_windows(const std::vector<AxisWindows>& axes, int64_t planes, const float* x, float* y) {
  const int64_t in = input_cells(axes), out = output_cells(axes);
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < planes; ++plane) {
    const float* from = x + plane * in;
    float* to = y + plane * out;
    std::fill(to, to + out, 0.0f);
    for_each_cell(axes, 0, 0, 0, 1.0f,
                  [=](int64_t i, int64_t o, float weight) { to[o] += weight * from[i]; });
  }
}

void average_windows_backward(const std::vector<AxisWindows>& axes, int64_t planes, const float* dy,
                              float* dx) {
  const int64_t in = input_cells(axes), out = output_cells(axes);
#pragma omp parallel for schedule(static)
  for (int64_t plane = 0; plane < planes; ++plane) {
    const float* from = dy + plane * out;
    float* to = dx + plane * in;
    std::fill(to, to + in, 0.0f);
    for_each_cell(axes, 0, 0, 0, 1.0f,
                  [=](int64_t i, int64_t o, float weight) { to[i] += weight * from[o]; });
  }
}

void add(int64_t count, const float* a, const float* b, float* sum) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

void add_relu(int64_t count, const float* a, const float* b, float* sum) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) sum[i] = std::max(a[i] + b[i], 0.0f);
}

void sum_rows(int64_t rows, int64_t columns, const float* matrix, float* sums) {
  std::fill_n(sums, columns, 0.0F);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) sums[column] += matrix[row * columns + column];
  }
}

int64_t rows_of(const Cells& cells) { return cells.planes * cells.extents[0] * cells.extents[1]; }

void crop(const Cells& cells, const float* x, const std::array<int64_t, 3>& begin,
          const std::array<int64_t, 3>& size, float* y) {
  const auto [depth, height, width] = cells.extents;
  const int64_t lanes = cells.lanes, row = size[2] * lanes;
  // Of a row: the zeros before x, what x has, the zeros behind it.
  const int64_t before = std::clamp<int64_t>(-begin[2], 0, size[2]) * lanes;
  const int64_t end = std::clamp<int64_t>(width - begin[2], 0, size[2]) * lanes;
  const int64_t first = std::max<int64_t>(begin[2], 0) * lanes;
#pragma omp parallel for schedule(static)
  for (int64_t line = 0; line < rows_of({cells.planes, lanes, size}); ++line) {
    const int64_t slice = line / size[1], plane = slice / size[0];
    const int64_t z = slice % size[0] + begin[0], at = line % size[1] + begin[1];
    float* to = y + line * row;
    const bool inside = z >= 0 && z < depth && at >= 0 && at < height && before < end;
    if (!inside) {
      std::fill_n(to, row, 0.0F);
      continue;
    }
    const float* from = x + ((plane * depth + z) * height + at) * width * lanes + first;
    std::fill_n(to, before, 0.0F);
    std::copy_n(from, end - before, to + before);
    std::fill(to + end, to + row, 0.0F);
  }
}

void fence(const Cells& cells, const float* x, std::span<const int64_t> bounds, float outside, float* y) {
  const size_t axes = bounds.size() / 2;
  std::array<int64_t, 3> begin = {0, 0, 0}, end = cells.extents;
  for (size_t i = 0; i < axes; ++i) {
    const size_t axis = 3 - axes + i;
    begin[axis] = std::clamp<int64_t>(bounds[i], 0, cells.extents[axis]);
    end[axis] = std::clamp(bounds[axes + i], begin[axis], cells.extents[axis]);
  }
  const auto [depth, height, width] = cells.extents;
  const bool all_inside = begin == std::array<int64_t, 3>{} && end == cells.extents;
  if (all_inside && x == y) return;
  const int64_t row = width * cells.lanes;
  const int64_t row_begin = begin[2] * cells.lanes, row_end = end[2] * cells.lanes;
#pragma omp parallel for schedule(static)
  for (int64_t line = 0; line < rows_of(cells); ++line) {
    const int64_t z = line / height % depth, at = line % height;
    const float* from = x + line * row;
    float* to = y + line * row;
    const bool inside = z >= begin[0] && z < end[0] && at >= begin[1] && at < end[1];
    if (!inside) {
      std::fill_n(to, row, outside);
      continue;
    }
    std::fill_n(to, row_begin, outside);
    if (from != to) std::copy(from + row_begin, from + row_end, to + row_begin);
    std::fill(to + row_end, to + row, outside);
  }
}

void copy_bytes(const std::byte* from, int64_t bytes, std::byte* to) {
#pragma omp parallel for schedule(static)
  for (int64_t at = 0; at < bytes; at += kCopiedBytes)
    std::memcpy(to + at, from + at, static_cast<size_t>(std::min(kCopiedBytes, bytes - at)));
}

Split copy_split(int64_t bytes) { return evenly(divide_up(bytes, kCopiedBytes)); }

void dropout(const blocked::Sweep& sweep, const Random& stream, double probability, blocked::Source x,
             blocked::Target y, uint8_t* mask) {
  for_parts(sweep, [&](const Part& part) {
    const int64_t channel = part.image * sweep.channels + part.block * sweep.lanes;
    draw(stream, probability, channel * sweep.cells + part.begin, sweep.cells, sweep.lanes, part.cells,
         mask + part.mask);
    keep(sweep, part, probability, mask, x, y);
  });
}

void dropout_backward(const blocked::Sweep& sweep, double probability, const uint8_t* mask,
                      blocked::Source dy, blocked::Target dx) {
  for_parts(sweep, [&](const Part& part) { keep(sweep, part, probability, mask, dy, dx); });
}

void softmax_cross_entropy(double smoothing, int64_t images, int64_t classes, const float* logits,
                           const int64_t* labels, float* loss, float* probabilities) {
  double total = 0;
  for (int64_t n = 0; n < images; ++n) {
    const float* row = logits + n * classes;
    float* result = probabilities + n * classes;
    const float top = *std::max_element(row, row + classes);
    double sum = 0, scores = 0;
    for (int64_t c = 0; c < classes; ++c) {
      result[c] = std::exp(row[c] - top);
      sum += result[c];
      scores += row[c] - top;
    }
    for (int64_t c = 0; c < classes; ++c) result[c] = static_cast<float>(result[c] / sum);
    total += std::log(sum) - (1 - smoothing) * (row[labels[n]] - top) -
             smoothing * scores / static_cast<double>(classes);
  }
  *loss = static_cast<float>(total / static_cast<double>(images));
}

void softmax_cross_entropy_backward(double smoothing, int64_t images, int64_t classes,
                                    const float* probabilities, const int64_t* labels, float* dlogits) {
  const float share = 1.0f / static_cast<float>(images);
  const auto everywhere = static_cast<float>(smoothing / static_cast<double>(classes));
  const auto at_label = static_cast<float>(1 - smoothing);
  for (int64_t n = 0; n < images; ++n) {
    const float* row = probabilities + n * classes;
    float* result = dlogits + n * classes;
    for (int64_t c = 0; c < classes; ++c) result[c] = share * (row[c] - everywhere);
    result[labels[n]] -= share * at_label;
  }
}

void dice_loss(int64_t images, int64_t channels, int64_t cells, const float* x, const float* target,
               float* loss, float* sums) {
  double total = 0;
  for (int64_t c = 0; c < channels; ++c) {
    double product = 0, squares = 0;
    for (int64_t n = 0; n < images; ++n) {
      const float* a = x + (n * channels + c) * cells;
      const float* b = target + (n * channels + c) * cells;
#pragma omp parallel for schedule(static) reduction(+ : product, squares)
      for (int64_t i = 0; i < cells; ++i) {
        product += double{a[i]} * b[i];
        squares += double{a[i]} * a[i] + double{b[i]} * b[i];
      }
    }
    sums[c] = static_cast<float>(2 * product);
    sums[channels + c] = static_cast<float>(std::max(squares, kDiceFloor));
    total -= 2 * product / std::max(squares, kDiceFloor);
  }
  *loss = static_cast<float>(total);
}

void dice_loss_backward(int64_t images, int64_t channels, int64_t cells, const float* x, const float* target,
                        const float* sums, float* dx) {
  for (int64_t plane = 0; plane < images * channels; ++plane) {
    const int64_t c = plane % channels;
    const float numerator = sums[c], denominator = sums[channels + c];
    // d(-n/d) = -2t/d + n * 2x/d^2; at the floor the denominator is constant.
    const float by_target = -2.0f / denominator;
    const float by_x =
        denominator > static_cast<float>(kDiceFloor) ? 2.0f * numerator / (denominator * denominator) : 0.0f;
    const float* a = x + plane * cells;
    const float* b = target + plane * cells;
    float* result = dx + plane * cells;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < cells; ++i) result[i] = by_target * b[i] + by_x * a[i];
  }
}

}  // namespace tacho::native
