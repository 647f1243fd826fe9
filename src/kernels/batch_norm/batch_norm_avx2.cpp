#include "kernels/batch_norm/batch_norm.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/batch_norm/channel_loop.h"

namespace tacho::batch_norm {
namespace {

using blocked::kLanes;

int64_t block_count(const Sweep& sweep) { return blocked::channel_blocks(sweep.channels); }

// Cells of a block of channels of an image: all of them, or a part.
struct Part {
  int64_t image, block, first, cells;
  int64_t item;
};

Part part_of(const Sweep& sweep, const blocked::PlaneParts& parts, int64_t item) {
  const int64_t plane = parts.plane(item), begin = parts.begin(item);
  return {plane / block_count(sweep), plane % block_count(sweep), begin, parts.end(item) - begin, item};
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
    const int64_t first_item = (image * block_count(sweep) + block) * parts.parts;
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
  __m256 first, second;
};

// Adds up `function` of each cell, a pair of vectors; four sums at once hide the latency of adding.
template<typename Function>
Pair sum_cells(int64_t cells, const Function& function) {
  Pair sums[4];
  for (Pair& sum : sums) sum = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  int64_t cell = 0;
  const auto add = [&](Pair& sum, int64_t at) {
    const Pair value = function(at * kLanes);
    sum = {_mm256_add_ps(sum.first, value.first), _mm256_add_ps(sum.second, value.second)};
  };
  for (; cell + 4 <= cells; cell += 4) {
    for (int i = 0; i < 4; ++i) add(sums[i], cell + i);
  }
  for (; cell < cells; ++cell) add(sums[0], cell);
  const auto total = [](__m256 a, __m256 b, __m256 c, __m256 d) {
    return _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
  };
  return {total(sums[0].first, sums[1].first, sums[2].first, sums[3].first),
          total(sums[0].second, sums[1].second, sums[2].second, sums[3].second)};
}

struct Lanes {
  explicit Lanes(__m256 values) { _mm256_store_ps(at, values); }
  alignas(32) float at[kLanes];
};

// Mean and squared distance from it of cells so far, in 8 channels.
struct Moments {
  double mean[kLanes] = {}, squares[kLanes] = {};
  double count = 0;

  // `sums`: of the distances of `cells` more from `center`, and of their squares.
  void add(const Pair& sums, __m256 center, int64_t cells) {
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

  __m256 center() const {
    alignas(32) float result[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<float>(mean[lane]);
    return _mm256_load_ps(result);
  }
};

__m256 mean_of(const float* x, int64_t cells) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  int64_t cell = 0;
  for (; cell + 4 <= cells; cell += 4) {
    for (int i = 0; i < 4; ++i) sums[i] = _mm256_add_ps(sums[i], _mm256_loadu_ps(x + (cell + i) * kLanes));
  }
  for (; cell < cells; ++cell) sums[0] = _mm256_add_ps(sums[0], _mm256_loadu_ps(x + cell * kLanes));
  const __m256 sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
  return _mm256_mul_ps(sum, _mm256_set1_ps(1 / static_cast<float>(cells)));
}

// Mean and squared distance from it, of one part. Distances are taken from the mean of the cells before, and
// of the first ones, which are looked at twice: of all parts of a plane as many as of a whole one.
void plane_statistics(const Sweep& sweep, const Part& part, const float* x, Partial result) {
  const auto sums_from = [&](__m256 center, int64_t first, int64_t count) {
    return sum_cells(count, [&](int64_t i) {
      const __m256 distance = _mm256_sub_ps(_mm256_loadu_ps(x + first * kLanes + i), center);
      return Pair{distance, _mm256_mul_ps(distance, distance)};
    });
  };
  Moments moments;
  __m256 center =
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

void set(const Statistics& result, int64_t channel, const ChannelStatistics& of) {
  result.mean[channel] = static_cast<float>(of.mean);
  result.variance[channel] = static_cast<float>(of.variance);
}

double inverse_deviation(const Parameters& p, int64_t channel) {
  return 1 / std::sqrt(p.variance[channel] + p.epsilon);
}

// y = scale * x + shift, for a block of channels; zeros in those that fill it up.
struct Line {
  __m256 scale, shift;
};
// dx = scale * dy + slope * x + offset.
struct GradientLine {
  __m256 scale, slope, offset;
};

// Factors of all channels, computed once a call: `count` rows of blocks behind the partial sums.
class Factors {
 public:
  Factors(const Sweep& sweep, float* scratch)
      : rows_(scratch + parts_of(sweep).items() * 2 * kLanes), row_floats_(block_count(sweep) * kLanes) {
    std::fill_n(rows_, kRows * row_floats_, 0.0f);
  }

  static constexpr int64_t kRows = 5;

  float& at(int row, int64_t channel) { return rows_[row * row_floats_ + channel]; }
  Line line(int64_t block) const { return {load(0, block), load(1, block)}; }
  GradientLine gradient_line(int64_t block) const { return {load(2, block), load(3, block), load(4, block)}; }

 private:
  __m256 load(int row, int64_t block) const {
    return _mm256_loadu_ps(rows_ + row * row_floats_ + block * kLanes);
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

__m256 normalized(const Line& line, __m256 x) { return _mm256_fmadd_ps(x, line.scale, line.shift); }

// dy where the ReLU let the value through, and everywhere if there is none.
template<bool relu>
__m256 passed_on(const Line& line, __m256 x, __m256 dy) {
  if constexpr (!relu) return dy;
  return _mm256_and_ps(dy, _mm256_cmp_ps(normalized(line, x), _mm256_setzero_ps(), _CMP_GT_OQ));
}

// Sums of dy and of dy * (x - mean) over one part.
template<bool relu>
void plane_sums(const Part& part, const Line& line, __m256 mean, const float* x, const float* dy,
                Partial result) {
  double plain[kLanes] = {}, weighted[kLanes] = {};
  for_chunks(part.cells, [&](int64_t first, int64_t count) {
    const Pair sums = sum_cells(count, [&](int64_t i) {
      const __m256 value = _mm256_loadu_ps(x + first * kLanes + i);
      const __m256 gradient = passed_on<relu>(line, value, _mm256_loadu_ps(dy + first * kLanes + i));
      return Pair{gradient, _mm256_mul_ps(gradient, _mm256_sub_ps(value, mean))};
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

__m256 load_lanes(const Sweep& sweep, const float* values, int64_t block) {
  alignas(32) float lanes[kLanes] = {};
  std::copy_n(values + block * kLanes, std::min(kLanes, sweep.channels - block * kLanes), lanes);
  return _mm256_load_ps(lanes);
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
    const __m256 value = _mm256_loadu_ps(x + i);
    const __m256 passed = passed_on<relu>(line, value, _mm256_loadu_ps(dy + i));
    const __m256 from_sums = _mm256_fmadd_ps(value, gradient.slope, gradient.offset);
    __m256 result = _mm256_fmadd_ps(passed, gradient.scale, from_sums);
    if (added != nullptr) result = _mm256_add_ps(result, _mm256_loadu_ps(added + i));
    _mm256_storeu_ps(dx + i, result);
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

}  // namespace

int64_t scratch_floats(const Sweep& sweep) {
  return (parts_of(sweep).items() * 2 + Factors::kRows * block_count(sweep)) * kLanes;
}

void statistics(const Sweep& sweep, Source x, const Statistics& result, float* scratch) {
  find_plane_statistics(sweep, x, scratch);
  for_channels(sweep, sums_of_channel(sweep),
               [&](int64_t channel) { set(result, channel, join_statistics(sweep, scratch, channel)); });
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

void statistics_of_sums(const Sweep& sweep, const double* sums, int devices, const Statistics& result) {
  for (int64_t channel = 0; channel < sweep.channels; ++channel) {
    const double mean = sums[channel] / devices, square = sums[sweep.channels + channel] / devices;
    set(result, channel, {mean, std::max(square - mean * mean, 0.0)});
  }
}

void normalize(const Sweep& sweep, Source x, const Parameters& parameters, Target y, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  const __m256 floor = _mm256_set1_ps(parameters.relu ? 0 : -std::numeric_limits<float>::infinity());
  for_planes(sweep, [&](const Part& part) {
    const Line line = factors.line(part.block);
    const float* from = plane(sweep, x, part);
    float* to = plane(sweep, y, part);
    for (int64_t i = 0; i < part.cells * kLanes; i += kLanes) {
      // This order of operands keeps NaN.
      _mm256_storeu_ps(to + i, _mm256_max_ps(floor, normalized(line, _mm256_loadu_ps(from + i))));
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

}  // namespace tacho::batch_norm
