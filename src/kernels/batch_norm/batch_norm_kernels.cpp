#include "kernels/batch_norm/batch_norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/batch_norm/channel_loop.h"
#include "kernels/vector.h"

namespace tacho::batch_norm::TACHO_ISA {
namespace {

using namespace blocked::TACHO_ISA;

// Cells of a block of channels of an image: all of them, or a part.
struct Part {
  int64_t image, block, first, cells;
  int64_t item;
};

Part part_of(const Sweep& sweep, const blocked::PlaneParts& parts, int64_t item) {
  const int64_t plane = parts.plane(item), begin = parts.begin(item);
  return {plane / channel_blocks(sweep), plane % channel_blocks(sweep), begin, parts.end(item) - begin, item};
}

// Two sums per part and channel, which are added up in the order of the images and parts.
struct Partial {
  float* first;
  float* second;
};
Partial partial(float* scratch, int64_t item) {
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

Vector mean_of(const float* x, int64_t cells) {
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
void plane_statistics(const Sweep& sweep, const Part& part, const float* x, Partial result) {
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

struct ChannelStatistics {
  double mean, variance;
};

ChannelStatistics join_statistics(const Sweep& sweep, float* scratch, int64_t channel) {
  const int64_t block = channel / kLanes, lane = channel % kLanes;
  const auto cells = static_cast<double>(sweep.cells);
  double mean = 0, squares = 0;
  for_partials(sweep, scratch, block, [&](const Partial& part, double part_cells) {
    mean += part.first[lane] * (part_cells / cells);
  });
  mean /= static_cast<double>(sweep.batch);
  for_partials(sweep, scratch, block, [&](const Partial& part, double part_cells) {
    const double distance = part.first[lane] - mean;
    squares += part.second[lane] + part_cells * distance * distance;
  });
  return {mean, squares / static_cast<double>(sweep.batch * sweep.cells)};
}

double inverse_deviation(const Parameters& p, int64_t channel) {
  return 1 / std::sqrt(p.variance[channel] + p.epsilon);
}

// y = scale * x + shift, for a block of channels; zeros in those that fill it up.
struct Line {
  Vector scale, shift;
};
// dx = scale * dy + slope * x + offset.
struct GradientLine {
  Vector scale, slope, offset;
};

// Factors of all channels, computed once a call: `count` rows of blocks behind the partial sums.
class Factors {
 public:
  Factors(const Sweep& sweep, float* scratch)
      : rows_(scratch + parts_of(sweep).items() * 2 * kLanes), row_floats_(channel_blocks(sweep) * kLanes) {
    std::fill_n(rows_, kRows * row_floats_, 0.0f);
  }

  static constexpr int64_t kRows = kFactorRows;

  float& at(int row, int64_t channel) { return rows_[row * row_floats_ + channel]; }
  Line line(int64_t block) const { return {load(0, block), load(1, block)}; }
  GradientLine gradient_line(int64_t block) const { return {load(2, block), load(3, block), load(4, block)}; }

 private:
  Vector load(int row, int64_t block) const {
    return load_unaligned(rows_ + row * row_floats_ + block * kLanes);
  }

  float* rows_;
  int64_t row_floats_;
};

// Calls `function(channel)` for all of them, each with so many sums to join, on all threads if that is worth
// it.
template<typename Function>
void for_channels(const Sweep& sweep, int64_t sums, const Function& function) {
#pragma omp parallel for schedule(static) if (shares_channels(sweep, sums))
  for (int64_t channel = 0; channel < sweep.channels; ++channel) function(channel);
}

void add_lines(const Sweep& sweep, const Parameters& p, Factors& factors) {
  for_channels(sweep, 0, [&](int64_t channel) {
    const double scale = p.weight[channel] * inverse_deviation(p, channel);
    factors.at(0, channel) = static_cast<float>(scale);
    factors.at(1, channel) = static_cast<float>(p.bias[channel] - scale * p.mean[channel]);
  });
}

Vector normalized(const Line& line, Vector x) { return multiply_add(x, line.scale, line.shift); }

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

Vector load_lanes(const Sweep& sweep, const float* values, int64_t block) {
  alignas(Vector) float lanes[kLanes] = {};
  std::copy_n(values + block * kLanes, std::min(kLanes, sweep.channels - block * kLanes), lanes);
  return load(lanes);
}

void join_sums(const Sweep& sweep, const Parameters& p, float* scratch, int64_t channel, float* dweight,
               float* dbias) {
  double plain = 0, weighted = 0;
  for_partials(sweep, scratch, channel / kLanes, [&](const Partial& part, double) {
    plain += part.first[channel % kLanes];
    weighted += part.second[channel % kLanes];
  });
  dbias[channel] = static_cast<float>(plain);
  dweight[channel] = static_cast<float>(weighted * inverse_deviation(p, channel));
}

void add_gradient_lines(const Sweep& sweep, const Parameters& p, const BackwardSums& sums, Factors& factors) {
  const auto count = static_cast<double>(sums.devices * sweep.batch * sweep.cells);
  for_channels(sweep, 0, [&](int64_t channel) {
    const double inverse = inverse_deviation(p, channel), scale = p.weight[channel] * inverse;
    const double slope = -scale * inverse * sums.dweight[channel] / count;
    factors.at(2, channel) = static_cast<float>(scale);
    factors.at(3, channel) = static_cast<float>(slope);
    factors.at(4, channel) =
        static_cast<float>(-scale * sums.dbias[channel] / count - slope * p.mean[channel]);
  });
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

// Calls `function(part)` for all of them, on all threads.
template<typename Function>
void for_planes(const Sweep& sweep, const Function& function) {
  const blocked::PlaneParts parts = parts_of(sweep);
#pragma omp parallel for schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) function(part_of(sweep, parts, item));
}

template<typename T>
T* plane(const Sweep& sweep, const blocked::Activation<T>& activation, const Part& part) {
  return activation.data + part.image * activation.batch_stride +
         (part.block * sweep.cells + part.first) * kLanes;
}

void find_plane_statistics(const Sweep& sweep, Source x, float* scratch) {
  for_planes(sweep, [&](const Part& part) {
    plane_statistics(sweep, part, plane(sweep, x, part), partial(scratch, part.item));
  });
}

void find_parameter_gradients(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                              const Factors& factors, float* dweight, float* dbias, float* scratch) {
  for_planes(sweep, [&](const Part& part) {
    const auto sums = parameters.relu ? plane_sums<true> : plane_sums<false>;
    sums(part, factors.line(part.block), load_lanes(sweep, parameters.mean, part.block),
         plane(sweep, x, part), plane(sweep, dy, part), partial(scratch, part.item));
  });
  for_channels(sweep, sums_of_channel(sweep),
               [&](int64_t channel) { join_sums(sweep, parameters, scratch, channel, dweight, dbias); });
}

void find_data_gradient(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                        const BackwardSums& sums, Factors& factors, Source added, Target dx) {
  add_gradient_lines(sweep, parameters, sums, factors);
  for_planes(sweep, [&](const Part& part) {
    const auto gradients = parameters.relu ? plane_gradients<true> : plane_gradients<false>;
    gradients(part, factors.line(part.block), factors.gradient_line(part.block), plane(sweep, x, part),
              plane(sweep, dy, part), added.data == nullptr ? nullptr : plane(sweep, added, part),
              plane(sweep, dx, part));
  });
}

void statistics(const Sweep& sweep, Source x, const Statistics& result, float* scratch) {
  find_plane_statistics(sweep, x, scratch);
  for_channels(sweep, sums_of_channel(sweep), [&](int64_t channel) {
    const ChannelStatistics found = join_statistics(sweep, scratch, channel);
    result.mean[channel] = static_cast<float>(found.mean);
    result.variance[channel] = static_cast<float>(found.variance);
  });
}

// Means, then means of squares. A double holds the square of a float: what cancels where one is taken from
// the other is less than the rounding of x.
void moments(const Sweep& sweep, Source x, double* result, float* scratch) {
  find_plane_statistics(sweep, x, scratch);
  for_channels(sweep, sums_of_channel(sweep), [&](int64_t channel) {
    const ChannelStatistics own = join_statistics(sweep, scratch, channel);
    result[channel] = own.mean;
    result[sweep.channels + channel] = own.variance + own.mean * own.mean;
  });
}

void normalize(const Sweep& sweep, Source x, const Parameters& parameters, Target y, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  const Vector floor = broadcast(parameters.relu ? 0 : -std::numeric_limits<float>::infinity());
  for_planes(sweep, [&](const Part& part) {
    const Line line = factors.line(part.block);
    const float* from = plane(sweep, x, part);
    float* to = plane(sweep, y, part);
    for (int64_t i = 0; i < part.cells * kLanes; i += kLanes) {
      // This order of operands keeps NaN.
      store_unaligned(to + i, larger(floor, normalized(line, load_unaligned(from + i))));
    }
  });
}

void backward(const Sweep& sweep, Source x, Source dy, const Parameters& parameters, const Gradients& result,
              float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  find_parameter_gradients(sweep, x, dy, parameters, factors, result.dweight, result.dbias, scratch);
  find_data_gradient(sweep, x, dy, parameters, {result.dweight, result.dbias, 1}, factors, result.added,
                     result.dx);
}

void backward_parameters(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                         float* dweight, float* dbias, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  find_parameter_gradients(sweep, x, dy, parameters, factors, dweight, dbias, scratch);
}

void backward_data(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                   const BackwardSums& sums, Source added, Target dx, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  find_data_gradient(sweep, x, dy, parameters, sums, factors, added, dx);
}

}  // namespace

constexpr Kernels kKernels = {
    .statistics = statistics,
    .moments = moments,
    .normalize = normalize,
    .backward = backward,
    .backward_parameters = backward_parameters,
    .backward_data = backward_data,
};

}  // namespace tacho::batch_norm::TACHO_ISA
