#pragma once

#include <algorithm>
#include <limits>

#include "kernels/blocked/blocked.h"
#include "kernels/vector.h"

// What batch norms do with a part of a plane. Included only by files compiled for AVX2 or AVX-512, each with
// its own copy: see instruction_set_test.py.
namespace tacho::batch_norm::TACHO_ISA {
namespace {

using namespace blocked::TACHO_ISA;
using blocked::Sweep;

// Cells of a block of channels of an image: all of them, or a part.
struct Part {
  int64_t image, block, first, cells;
  int64_t item;
};

inline Part part_of(const Sweep& sweep, const blocked::PlaneParts& parts, int64_t item) {
  const int64_t plane = parts.plane(item), begin = parts.begin(item);
  return {plane / channel_blocks(sweep), plane % channel_blocks(sweep), begin, parts.end(item) - begin, item};
}

// Two sums per part and channel, which are added up in the order of the images and parts.
struct Partial {
  float* first;
  float* second;
};
inline Partial partial(float* scratch, int64_t item) {
  float* at = scratch + item * 2 * kLanes;
  return {at, at + kLanes};
}

// Calls `function(partial, cells)` for all that was found of a block, in its order.
template<typename Function>
void for_partials(const Sweep& sweep, float* scratch, int64_t block, const Function& function) {
  const blocked::PlaneParts parts = parts_of(sweep);
  for (int64_t image = 0; image < sweep.batch; ++image) {
    const int64_t first_item = (image * channel_blocks(sweep) + block) * parts.parts;
    for (int64_t i = 0; i < parts.parts; ++i) {
      const int64_t cells = std::min(parts.part_pieces, sweep.cells - i * parts.part_pieces);
      function(partial(scratch, first_item + i), static_cast<double>(cells));
    }
  }
}

// Floats add up this many cells, doubles what comes of it: so errors do not grow with the size of a volume.
constexpr int64_t kChunkCells = 1024;

// Calls `function(first cell, count)` for all chunks of a plane.
template<typename Function>
void for_chunks(int64_t cells, const Function& function) {
  for (int64_t first = 0; first < cells; first += kChunkCells)
    function(first, std::min(kChunkCells, cells - first));
}

struct Pair {
  Vector first, second;
};

// Adds up `function` of each cell, a pair of vectors; four sums at once hide the latency of adding.
template<typename Function>
Pair sum_cells(int64_t cells, const Function& function) {
  Pair sums[4];
  for (Pair& sum : sums) sum = {zero(), zero()};
  int64_t cell = 0;
  const auto add = [&](Pair& sum, int64_t at) {
    const Pair value = function(at * kLanes);
    sum = {sum.first + value.first, sum.second + value.second};
  };
  for (; cell + 4 <= cells; cell += 4) {
    for (int i = 0; i < 4; ++i) add(sums[i], cell + i);
  }
  for (; cell < cells; ++cell) add(sums[0], cell);
  const auto total = [](Vector a, Vector b, Vector c, Vector d) { return (a + b) + (c + d); };
  return {total(sums[0].first, sums[1].first, sums[2].first, sums[3].first),
          total(sums[0].second, sums[1].second, sums[2].second, sums[3].second)};
}

struct Lanes {
  explicit Lanes(Vector values) { store(at, values); }
  alignas(Vector) float at[kLanes];
};

// Mean and squared distance from it of cells so far, in a block of channels.
struct Moments {
  double mean[kLanes] = {}, squares[kLanes] = {};
  double count = 0;

  // `sums`: of the distances of `cells` more from `center`, and of their squares.
  void add(const Pair& sums, Vector center, int64_t cells) {
    const Lanes distances(sums.first), squared(sums.second), centers(center);
    const auto more = static_cast<double>(cells);
    const double inverse = 1 / more, share = more / (count + more), between = count * share;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double from_center = distances.at[lane] * inverse;
      const double away = centers.at[lane] + from_center - mean[lane];
      squares[lane] += squared.at[lane] - distances.at[lane] * from_center + away * away * between;
      mean[lane] += away * share;
    }
    count += more;
  }

  Vector center() const {
    alignas(Vector) float result[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<float>(mean[lane]);
    return load(result);
  }
};

inline Vector mean_of(const float* x, int64_t cells) {
  Vector sums[4] = {zero(), zero(), zero(), zero()};
  int64_t cell = 0;
  for (; cell + 4 <= cells; cell += 4) {
    for (int i = 0; i < 4; ++i) sums[i] = sums[i] + load_unaligned(x + (cell + i) * kLanes);
  }
  for (; cell < cells; ++cell) sums[0] = sums[0] + load_unaligned(x + cell * kLanes);
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum * broadcast(1 / static_cast<float>(cells));
}

// Mean and squared distance from it, of one part. Distances are taken from the mean of the cells before, and
// of the first ones, which are looked at twice: of all parts of a plane as many as of a whole one.
inline void plane_statistics(const Sweep& sweep, const Part& part, const float* x, Partial result) {
  const auto sums_from = [&](Vector center, int64_t first, int64_t count) {
    return sum_cells(count, [&](int64_t i) {
      const Vector distance = load_unaligned(x + first * kLanes + i) - center;
      return Pair{distance, distance * distance};
    });
  };
  Moments moments;
  Vector center =
      mean_of(x, std::max<int64_t>(1, std::min(kChunkCells, sweep.cells) / parts_of(sweep).parts));
  for_chunks(part.cells, [&](int64_t first, int64_t count) {
    moments.add(sums_from(center, first, count), center, count);
    center = moments.center();
  });
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    result.first[lane] = static_cast<float>(moments.mean[lane]);
    result.second[lane] = static_cast<float>(moments.squares[lane]);
  }
}

// y = scale * x + shift, for a block of channels; zeros in those that fill it up.
struct Line {
  Vector scale, shift;
};
// dx = scale * dy + slope * x + offset.
struct GradientLine {
  Vector scale, slope, offset;
};

inline Vector normalized(const Line& line, Vector x) { return multiply_add(x, line.scale, line.shift); }

// dy where the ReLU let the value through, and everywhere if there is none.
template<bool relu>
Vector passed_on(const Line& line, Vector x, Vector dy) {
  if constexpr (!relu) return dy;
  return zero_unless_positive(normalized(line, x), dy);
}

// Sums of dy and of dy * (x - mean) over one part.
template<bool relu>
void plane_sums(const Part& part, const Line& line, Vector mean, const float* x, const float* dy,
                Partial result) {
  double plain[kLanes] = {}, weighted[kLanes] = {};
  for_chunks(part.cells, [&](int64_t first, int64_t count) {
    const Pair sums = sum_cells(count, [&](int64_t i) {
      const Vector value = load_unaligned(x + first * kLanes + i);
      const Vector gradient = passed_on<relu>(line, value, load_unaligned(dy + first * kLanes + i));
      return Pair{gradient, gradient * (value - mean)};
    });
    const Lanes of_dy(sums.first), of_products(sums.second);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      plain[lane] += of_dy.at[lane];
      weighted[lane] += of_products.at[lane];
    }
  });
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    result.first[lane] = static_cast<float>(plain[lane]);
    result.second[lane] = static_cast<float>(weighted[lane]);
  }
}

// y = relu(scale * x + shift), or without the ReLU.
inline void normalize_part(const Part& part, const Line& line, bool relu, const float* x, float* y) {
  const Vector floor = broadcast(relu ? 0 : -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < part.cells * kLanes; i += kLanes) {
    // This order of operands keeps NaN.
    store_unaligned(y + i, larger(floor, normalized(line, load_unaligned(x + i))));
  }
}

// `added` may be null.
template<bool relu>
void plane_gradients(const Part& part, const Line& line, const GradientLine& gradient, const float* x,
                     const float* dy, const float* added, float* dx) {
  for (int64_t i = 0; i < part.cells * kLanes; i += kLanes) {
    const Vector value = load_unaligned(x + i);
    const Vector passed = passed_on<relu>(line, value, load_unaligned(dy + i));
    const Vector from_sums = multiply_add(value, gradient.slope, gradient.offset);
    Vector result = multiply_add(passed, gradient.scale, from_sums);
    if (added != nullptr) result = result + load_unaligned(added + i);
    store_unaligned(dx + i, result);
  }
}

}  // namespace
}  // namespace tacho::batch_norm::TACHO_ISA
