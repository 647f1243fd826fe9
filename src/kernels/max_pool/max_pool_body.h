#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/blocked/plane_parts.h"
#include "kernels/max_pool/max_pool.h"

// The kernels for vectors of `width` lanes. Everything is the including file's own: each is compiled for
// another instruction set.
namespace tacho::max_pool {
namespace {

template<int width>
struct Vector {
  using Floats [[gnu::vector_size(width * sizeof(float))]] = float;
  using Taps [[gnu::vector_size(width * sizeof(int32_t))]] = int32_t;
  using Bytes [[gnu::vector_size(width)]] = uint8_t;
};

template<typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Where a window lies along one axis, and the part of it that is inside the input.
struct Range {
  int64_t first, begin, end;
};

Range range_of(const Pooling& p, int axis, int64_t output) {
  const int64_t first = output * p.stride[axis] - p.padding[axis];
  return {first, std::max<int64_t>(first, 0), std::min(first + p.kernel[axis], p.input[axis])};
}

int64_t cells(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

// Along which backward() cuts the planes of the input: depth, or height where there is none.
int cut_axis(const Pooling& p) { return p.input[0] > 1 ? 0 : 1; }
blocked::PlaneParts backward_parts(const Pooling& p) {
  const int axis = cut_axis(p);
  return {p.batch * p.blocks, p.input[static_cast<size_t>(axis)], 2 * p.kernel[static_cast<size_t>(axis)]};
}

int64_t all_rows(const Pooling& p) { return p.batch * p.blocks * p.output[0] * p.output[1]; }

// The windows of one row of outputs in one block, from their first rows inside the input on.
struct Row {
  Range z, y;
  const float* src;
  float* dst;
  uint8_t* argmax;  // or null

  int64_t first_tap(const Pooling& p) const {
    return ((z.begin - z.first) * p.kernel[1] + y.begin - y.first) * p.kernel[2];
  }
};

// The outputs of a row whose windows lie inside the input from left to right.
struct Outputs {
  int64_t begin, end;
};
Outputs whole_windows(const Pooling& p) {
  const int64_t begin = std::min((p.padding[2] + p.stride[2] - 1) / p.stride[2], p.output[2]);
  const int64_t room = p.input[2] + p.padding[2] - p.kernel[2];
  const int64_t end = room < 0 ? 0 : std::min(room / p.stride[2] + 1, p.output[2]);
  return {begin, std::max(begin, end)};
}

template<typename Floats, typename Taps>
struct Largest {
  Floats value = Floats{} - std::numeric_limits<float>::infinity();
  Taps tap;

  template<bool with_taps>
  void add(Floats other, int64_t other_tap) {
    const Taps is_nan = other != other;
    if constexpr (with_taps) {
      const Taps wins = (other > value) | is_nan;
      value = wins ? other : value;
      tap = wins ? Taps{} + static_cast<int32_t>(other_tap) : tap;
    } else {
      value = other > value ? other : value;
      value = reinterpret_cast<Floats>(reinterpret_cast<Taps>(value) | is_nan);
    }
  }
};

// `known`: how many columns of the window are inside, where that is known beforehand.
template<int width, int known, bool with_taps>
void pool_window(const Pooling& p, const Row& row, const Range& x, int64_t output) {
  using Floats = typename Vector<width>::Floats;
  using Taps = typename Vector<width>::Taps;
  const int64_t columns = known > 0 ? known : x.end - x.begin;
  const int64_t row_floats = p.input[2] * p.lanes;
  const int64_t first_tap = row.first_tap(p) + x.begin - x.first;
  for (int64_t lane = 0; lane < p.lanes; lane += width) {
    Largest<Floats, Taps> largest = {.tap = Taps{} + static_cast<int32_t>(first_tap)};
    const float* plane = row.src + x.begin * p.lanes + lane;
    int64_t plane_tap = first_tap;
    for (int64_t z = row.z.begin; z < row.z.end; ++z) {
      const float* from = plane;
      int64_t tap = plane_tap;
      for (int64_t y = row.y.begin; y < row.y.end; ++y) {
#pragma GCC unroll 4
        for (int64_t i = 0; i < columns; ++i)
          largest.template add<with_taps>(load<Floats>(from + i * p.lanes), tap + i);
        from += row_floats;
        tap += p.kernel[2];
      }
      plane += p.input[1] * row_floats;
      plane_tap += p.kernel[1] * p.kernel[2];
    }
    std::memcpy(row.dst + output * p.lanes + lane, &largest.value, sizeof largest.value);
    if constexpr (with_taps) {
      const auto bytes = __builtin_convertvector(largest.tap, typename Vector<width>::Bytes);
      std::memcpy(row.argmax + output * p.lanes + lane, &bytes, sizeof bytes);
    }
  }
}

template<int width, int known, bool with_taps>
void pool_whole_windows(const Pooling& p, const Row& row, Outputs outputs) {
  constexpr int64_t kLine = 16;  // floats of a cache line
  // What the next row of windows reads anew; one lane at a time takes longer to compute than to read.
  const int64_t new_rows = width > 1 ? p.stride[1] : 0;
  const int64_t row_floats = p.input[2] * p.lanes, step = p.stride[2] * p.lanes;
  const float* below = row.src + (row.y.end - row.y.begin) * row_floats;
  for (int64_t output = outputs.begin; output < outputs.end; ++output) {
    const int64_t first = output * p.stride[2] - p.padding[2];
    // Not a function, which GCC would take for one without effect.
    for (int64_t y = 0; y < new_rows; ++y) {
      for (int64_t i = 0; i < step; i += kLine)
        __builtin_prefetch(below + y * row_floats + first * p.lanes + i);
    }
    pool_window<width, known, with_taps>(p, row, {first, first, first + p.kernel[2]}, output);
  }
}

template<int width, bool with_taps>
void pool_row(const Pooling& p, const Row& row) {
  const Outputs whole = whole_windows(p);
  const auto edge = [&](int64_t output) {
    pool_window<width, 0, with_taps>(p, row, range_of(p, 2, output), output);
  };
  const auto pool_whole = p.kernel[2] == 3   ? pool_whole_windows<width, 3, with_taps>
                          : p.kernel[2] == 2 ? pool_whole_windows<width, 2, with_taps>
                                             : pool_whole_windows<width, 0, with_taps>;
  for (int64_t output = 0; output < whole.begin; ++output) edge(output);
  pool_whole(p, row, whole);
  for (int64_t output = whole.end; output < p.output[2]; ++output) edge(output);
}

template<int width>
void forward_by(const Pooling& p, const float* src, float* dst, uint8_t* argmax, int threads) {
  const int64_t rows = p.output[0] * p.output[1], row_floats = p.output[2] * p.lanes;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < all_rows(p); ++i) {
    const int64_t block = i / rows % p.blocks, image = i / rows / p.blocks;
    const Range z = range_of(p, 0, i % rows / p.output[1]), y = range_of(p, 1, i % p.output[1]);
    const int64_t first_cell = block * cells(p.input) + (z.begin * p.input[1] + y.begin) * p.input[2];
    const Row row = {
        .z = z,
        .y = y,
        .src = src + image * p.src_batch_stride + first_cell * p.lanes,
        .dst = dst + image * p.dst_batch_stride + (block * rows + i % rows) * row_floats,
        .argmax = argmax == nullptr ? nullptr : argmax + i * row_floats,
    };
    argmax == nullptr ? pool_row<width, false>(p, row) : pool_row<width, true>(p, row);
  }
}

// Adds the gradient of one output to those of its window.
template<int width, int known>
void unpool_window(const Pooling& p, const Range& z, const Range& y, const Range& x, const float* dy,
                   const uint8_t* argmax, float* dx) {
  using Floats = typename Vector<width>::Floats;
  using Taps = typename Vector<width>::Taps;
  const int64_t columns = known > 0 ? known : x.end - x.begin;
  for (int64_t lane = 0; lane < p.lanes; lane += width) {
    const Floats gradient = load<Floats>(dy + lane);
    const Taps taps = __builtin_convertvector(load<typename Vector<width>::Bytes>(argmax + lane), Taps);
    for (int64_t in_z = z.begin; in_z < z.end; ++in_z) {
      for (int64_t in_y = y.begin; in_y < y.end; ++in_y) {
        float* to = dx + ((in_z * p.input[1] + in_y) * p.input[2] + x.begin) * p.lanes + lane;
        const int64_t tap =
            ((in_z - z.first) * p.kernel[1] + in_y - y.first) * p.kernel[2] + x.begin - x.first;
#pragma GCC unroll 4
        for (int64_t i = 0; i < columns; ++i, to += p.lanes) {
          const Taps is_largest = taps == static_cast<int32_t>(tap + i);
          const Floats sum =
              load<Floats>(to) + reinterpret_cast<Floats>(reinterpret_cast<Taps>(gradient) & is_largest);
          std::memcpy(to, &sum, sizeof sum);
        }
      }
    }
  }
}

// What of a window lies at [begin, end) along one axis.
Range cut(const Range& range, int64_t begin, int64_t end) {
  return {range.first, std::max(range.begin, begin), std::min(range.end, end)};
}

// The gradients of the inputs at [begin, end) along the axis that planes are cut along, in one block.
template<int width>
void unpool_part(const Pooling& p, int64_t begin, int64_t end, const float* dy, const uint8_t* argmax,
                 float* dx) {
  const int axis = cut_axis(p);
  const int64_t stride = (axis == 0 ? p.input[1] : 1) * p.input[2] * p.lanes;
  std::fill_n(dx + begin * stride, (end - begin) * stride, 0.0f);
  for (int64_t row = 0; row < p.output[0] * p.output[1]; ++row) {
    Range z = range_of(p, 0, row / p.output[1]), y = range_of(p, 1, row % p.output[1]);
    Range& along = axis == 0 ? z : y;
    along = cut(along, begin, end);
    if (along.begin >= along.end) continue;
    const int64_t first = row * p.output[2] * p.lanes;
    for (int64_t output = 0; output < p.output[2]; ++output) {
      const float* gradients = dy + first + output * p.lanes;
      const uint8_t* taps = argmax + first + output * p.lanes;
      const Range x = range_of(p, 2, output);
      const int64_t columns = x.end - x.begin;
      if (columns == 3) {
        unpool_window<width, 3>(p, z, y, x, gradients, taps, dx);
      } else if (columns == 2) {
        unpool_window<width, 2>(p, z, y, x, gradients, taps, dx);
      } else {
        unpool_window<width, 0>(p, z, y, x, gradients, taps, dx);
      }
    }
  }
}

template<int width>
void backward_by(const Pooling& p, const uint8_t* argmax, const float* diff_dst, float* diff_src,
                 int threads) {
  const int64_t src_block = cells(p.input) * p.lanes, dst_block = cells(p.output) * p.lanes;
  const blocked::PlaneParts parts = backward_parts(p);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) {
    const int64_t plane = parts.plane(item), image = plane / p.blocks, block = plane % p.blocks;
    unpool_part<width>(p, parts.begin(item), parts.end(item),
                       diff_dst + image * p.dst_batch_stride + block * dst_block, argmax + plane * dst_block,
                       diff_src + image * p.src_batch_stride + block * src_block);
  }
}

}  // namespace
}  // namespace tacho::max_pool
