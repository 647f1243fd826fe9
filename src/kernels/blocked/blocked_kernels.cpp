#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/blocked/blocked_kernels.h"
#include "kernels/blocked/elu.h"

namespace tacho::blocked::TACHO_ISA {
namespace {

// The part of a window that lies inside the input, along one axis.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range inside(const Pooling& p, int axis, int64_t output) {
  const int64_t first = output * p.stride[axis] - p.padding[axis];
  return {std::max<int64_t>(first, 0), std::min(first + p.kernel[axis], p.input[axis])};
}

struct Max {
  static Vector start() { return broadcast(-std::numeric_limits<float>::infinity()); }
  static Vector join(Vector a, Vector b) { return nan_if_either(b, b, larger(b, a)); }
};
struct Sum {
  static Vector start() { return zero(); }
  static Vector join(Vector a, Vector b) { return a + b; }
};

// columns[x] = first[x] joined with the rows behind it, `step` floats apart. `extra`: how many, where that is
// known beforehand.
template<typename Join, int extra>
void join_rows(const float* first, int64_t step, int64_t floats, int64_t rows, float* columns) {
  for (int64_t x = 0; x < floats; x += kLanes) {
    Vector result = load_unaligned(first + x);
    const int64_t count = extra >= 0 ? extra : rows - 1;
    for (int64_t row = 1; row <= count; ++row)
      result = Join::join(result, load_unaligned(first + row * step + x));
    store_unaligned(columns + x, result);
  }
}

// Joins the rows that an output row looks at, column by column.
template<typename Join>
void join_window_rows(const Pooling& p, const float* block, Range depths, Range rows, float* columns) {
  const int64_t row_floats = p.input[2] * kLanes;
  const auto row = [&](int64_t z, int64_t y) { return block + (z * p.input[1] + y) * row_floats; };
  const auto join = rows.size() == 3   ? join_rows<Join, 2>
                    : rows.size() == 2 ? join_rows<Join, 1>
                                       : join_rows<Join, -1>;
  join(row(depths.begin, rows.begin), row_floats, row_floats, rows.size(), columns);
  for (int64_t z = depths.begin + 1; z < depths.end; ++z) {
    for (int64_t y = rows.begin; y < rows.end; ++y)
      join_rows<Join, 1>(columns, row(z, y) - columns, row_floats, 2, columns);
  }
}

template<typename Join>
Vector join_columns(const float* columns, Range range) {
  Vector result = Join::start();
  for (int64_t x = range.begin; x < range.end; ++x)
    result = Join::join(result, load_unaligned(columns + x * kLanes));
  return result;
}

// Outputs [begin, end), whose windows lie inside.
template<typename Join, int width>
void join_whole_windows(const Pooling& p, const float* columns, Range outputs, Vector factor, float* out) {
  const int64_t step = p.stride[2] * kLanes, taps = width > 0 ? width : p.kernel[2];
  const float* window = columns + (outputs.begin * p.stride[2] - p.padding[2]) * kLanes;
  for (int64_t x = outputs.begin; x < outputs.end; ++x, window += step) {
    Vector result = load_unaligned(window);
    for (int64_t tap = 1; tap < taps; ++tap)
      result = Join::join(result, load_unaligned(window + tap * kLanes));
    store_unaligned(out + x * kLanes, result * factor);
  }
}

// The outputs of a row whose windows lie inside the input from left to right.
Range whole_windows(const Pooling& p) {
  const int64_t begin = (p.padding[2] + p.stride[2] - 1) / p.stride[2];
  const int64_t room = p.input[2] + p.padding[2] - p.kernel[2];
  const int64_t end = room < 0 ? 0 : std::min(room / p.stride[2] + 1, p.output[2]);
  return {std::min(begin, p.output[2]), std::max(std::min(begin, p.output[2]), end)};
}

// Rows [begin, end) of the outputs of a plane. `divisor_of` gives what a joined window of so many cells is
// divided by.
template<typename Join, typename DivisorOf>
void pool_rows(const Pooling& p, int64_t begin, int64_t end, const float* src, float* dst, float* columns,
               const DivisorOf& divisor_of) {
  const Range whole = whole_windows(p);
  const auto join_whole = p.kernel[2] == 3   ? join_whole_windows<Join, 3>
                          : p.kernel[2] == 2 ? join_whole_windows<Join, 2>
                                             : join_whole_windows<Join, 0>;
  for (int64_t row = begin; row < end; ++row) {
    const Range depths = inside(p, 0, row / p.output[1]), rows = inside(p, 1, row % p.output[1]);
    const int64_t joined_rows = depths.size() * rows.size();
    join_window_rows<Join>(p, src, depths, rows, columns);
    float* out = dst + row * p.output[2] * kLanes;
    const auto factor = [&](int64_t width) { return broadcast(1 / divisor_of(joined_rows * width)); };
    const auto edge = [&](int64_t x) {
      const Range range = inside(p, 2, x);
      const Vector joined = join_columns<Join>(columns, range);
      store_unaligned(out + x * kLanes, joined * factor(range.size()));
    };
    for (int64_t x = 0; x < whole.begin; ++x) edge(x);
    join_whole(p, columns, whole, factor(p.kernel[2]), out);
    for (int64_t x = whole.end; x < p.output[2]; ++x) edge(x);
  }
}

int64_t cells(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

template<typename Join, typename DivisorOf>
void pool(const Pooling& p, Source src, Target dst, float* scratch, int threads,
          const DivisorOf& divisor_of) {
  const int64_t blocks = channel_blocks(p);
  const int64_t src_block = cells(p.input) * kLanes, dst_block = cells(p.output) * kLanes;
  const PlaneParts parts = parts_of(p);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) {
    const int64_t image = parts.plane(item) / blocks, block = parts.plane(item) % blocks;
    pool_rows<Join>(p, parts.begin(item), parts.end(item),
                    src.data + image * src.batch_stride + block * src_block,
                    dst.data + image * dst.batch_stride + block * dst_block,
                    scratch + omp_get_thread_num() * p.input[2] * kLanes, divisor_of);
  }
}

// Floats of a block of channels of an image, all or a part of them, from where its first block begins on.
struct Span {
  int64_t image, block, first, count;
};

// Calls `function` for all spans of a sweep, on all threads.
template<typename Function>
void for_spans(const Sweep& sweep, const Function& function) {
  const int64_t blocks = channel_blocks(sweep);
  const PlaneParts parts = parts_of(sweep);
#pragma omp parallel for schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) {
    const int64_t image = parts.plane(item) / blocks, block = parts.plane(item) % blocks;
    const int64_t begin = parts.begin(item), end = parts.end(item);
    function(Span{image, block, (block * sweep.cells + begin) * kLanes, (end - begin) * kLanes});
  }
}

template<typename T>
T* at(const Activation<T>& activation, const Span& span) {
  return activation.data + span.image * activation.batch_stride + span.first;
}

void copy(const Sweep& sweep, Source src, Target dst) {
  for_spans(sweep, [&](const Span& span) {
    std::memcpy(at(dst, span), at(src, span), static_cast<size_t>(span.count) * sizeof(float));
  });
}

void scale_shift(const Sweep& sweep, Source src, const float* scale, const float* shift, bool relu,
                 Target dst) {
  const Vector floor = broadcast(relu ? 0 : -std::numeric_limits<float>::infinity());
  for_spans(sweep, [&](const Span& span) {
    const Vector factor = load_unaligned(scale + span.block * kLanes);
    const Vector offset = load_unaligned(shift + span.block * kLanes);
    const float* x = at(src, span);
    float* y = at(dst, span);
    for (int64_t i = 0; i < span.count; i += kLanes) {
      const Vector value = multiply_add(load_unaligned(x + i), factor, offset);
      store_unaligned(y + i, larger(floor, value));  // this order of operands keeps NaN
    }
  });
}

void elu(const Sweep& sweep, float alpha, Target y) {
  for_spans(sweep, [&](const Span& span) {
    float* values = at(y, span);
    for (int64_t i = 0; i < span.count; i += kLanes)
      store_unaligned(values + i, elu(load_unaligned(values + i), broadcast(alpha)));
  });
}

void mask(const Sweep& sweep, Source by, Source x, Target y) {
  for_spans(sweep, [&](const Span& span) {
    const float* result = at(by, span);
    const float* from = at(x, span);
    float* to = at(y, span);
    for (int64_t i = 0; i < span.count; i += kLanes) {
      store_unaligned(to + i, zero_unless_positive(load_unaligned(result + i), load_unaligned(from + i)));
    }
  });
}

void max_pool(const Pooling& pooling, Source src, Target dst, float* scratch, int threads) {
  pool<Max>(pooling, src, dst, scratch, threads, [](int64_t) { return 1.0f; });
}

void average_pool(const Pooling& pooling, bool count_padding, Source src, Target dst, float* scratch,
                  int threads) {
  const int64_t all = cells(pooling.kernel);
  pool<Sum>(pooling, src, dst, scratch, threads,
            [=](int64_t counted) { return static_cast<float>(count_padding ? all : counted); });
}

}  // namespace

constexpr Kernels kKernels = {
    .copy = copy,
    .scale_shift = scale_shift,
    .elu = elu,
    .mask = mask,
    .max_pool = max_pool,
    .average_pool = average_pool,
};

}  // namespace tacho::blocked::TACHO_ISA
