#include "kernels/batch_norm/batch_norm_kernels.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/batch_norm/channel_loop.h"
#include "kernels/batch_norm/part_sweeps.h"

namespace tacho::batch_norm::TACHO_ISA {
namespace {

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

void set_line(const Parameters& p, int64_t channel, Factors& factors) {
  const double scale = p.weight[channel] * inverse_deviation(p, channel);
  factors.at(0, channel) = static_cast<float>(scale);
  factors.at(1, channel) = static_cast<float>(p.bias[channel] - scale * p.mean[channel]);
}

void add_lines(const Sweep& sweep, const Parameters& p, Factors& factors) {
  for_channels(sweep, 0, [&](int64_t channel) { set_line(p, channel, factors); });
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

void set_gradient_line(const Sweep& sweep, const Parameters& p, const BackwardSums& sums, int64_t channel,
                       Factors& factors) {
  const auto count = static_cast<double>(sums.devices * sweep.batch * sweep.cells);
  const double inverse = inverse_deviation(p, channel), scale = p.weight[channel] * inverse;
  const double slope = -scale * inverse * sums.dweight[channel] / count;
  factors.at(2, channel) = static_cast<float>(scale);
  factors.at(3, channel) = static_cast<float>(slope);
  factors.at(4, channel) = static_cast<float>(-scale * sums.dbias[channel] / count - slope * p.mean[channel]);
}

// Calls `function(part)` for all of them, on all threads.
template<typename Function>
void for_planes(const Sweep& sweep, const Function& function) {
  const blocked::PlaneParts parts = parts_of(sweep);
#pragma omp parallel for schedule(static)
  for (int64_t item = 0; item < parts.items(); ++item) function(part_of(sweep, parts, item));
}

// Calls `function(part)` for those of a block, in the order of the images or the other way round.
template<typename Function>
void for_parts_of(int64_t block, const Sweep& sweep, bool backwards, const Function& function) {
  const blocked::PlaneParts parts = parts_of(sweep);
  const int64_t count = sweep.batch * parts.parts;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = backwards ? count - 1 - i : i;
    const int64_t plane = at / parts.parts * channel_blocks(sweep) + block;
    function(part_of(sweep, parts, plane * parts.parts + at % parts.parts));
  }
}

// Calls `find(part)` for all parts, then `join(channel)`, then `use(part)`. Where threads take blocks apart,
// each block goes through all three at once: what was last read of it is still in a cache, and comes first.
template<typename Find, typename Join, typename Use>
void in_stages(const Sweep& sweep, const Find& find, const Join& join, const Use& use) {
  if (!takes_blocks_apart(sweep, omp_get_max_threads())) {
    for_planes(sweep, find);
    for_channels(sweep, sums_of_channel(sweep), join);
    for_planes(sweep, use);
    return;
  }
#pragma omp parallel for schedule(dynamic)
  for (int64_t block = 0; block < channel_blocks(sweep); ++block) {
    for_parts_of(block, sweep, false, find);
    const int64_t end = std::min(sweep.channels, (block + 1) * kLanes);
    for (int64_t channel = block * kLanes; channel < end; ++channel) join(channel);
    for_parts_of(block, sweep, true, use);
  }
}

template<typename T>
T* plane(const Sweep& sweep, const blocked::Activation<T>& activation, const Part& part) {
  return activation.data + part.image * activation.batch_stride +
         (part.block * sweep.cells + part.first) * kLanes;
}

void find_statistics(const Sweep& sweep, const Part& part, Source x, float* scratch) {
  plane_statistics(sweep, part, plane(sweep, x, part), partial(scratch, part.item));
}

void keep_statistics(const Sweep& sweep, int64_t channel, const Statistics& result, float* scratch) {
  const ChannelStatistics found = join_statistics(sweep, scratch, channel);
  result.mean[channel] = static_cast<float>(found.mean);
  result.variance[channel] = static_cast<float>(found.variance);
}

void find_sums(const Sweep& sweep, const Part& part, Source x, Source dy, const Parameters& parameters,
               const Factors& factors, float* scratch) {
  const auto sums = parameters.relu ? plane_sums<true> : plane_sums<false>;
  sums(part, factors.line(part.block), load_lanes(sweep, parameters.mean, part.block), plane(sweep, x, part),
       plane(sweep, dy, part), partial(scratch, part.item));
}

void find_gradients(const Sweep& sweep, const Part& part, Source x, Source dy, const Parameters& parameters,
                    const Factors& factors, Source added, Target dx) {
  const auto gradients = parameters.relu ? plane_gradients<true> : plane_gradients<false>;
  gradients(part, factors.line(part.block), factors.gradient_line(part.block), plane(sweep, x, part),
            plane(sweep, dy, part), added.data == nullptr ? nullptr : plane(sweep, added, part),
            plane(sweep, dx, part));
}

void statistics(const Sweep& sweep, Source x, const Statistics& result, float* scratch) {
  for_planes(sweep, [&](const Part& part) { find_statistics(sweep, part, x, scratch); });
  for_channels(sweep, sums_of_channel(sweep),
               [&](int64_t channel) { keep_statistics(sweep, channel, result, scratch); });
}

// Means, then means of squares. A double holds the square of a float: what cancels where one is taken from
// the other is less than the rounding of x.
void moments(const Sweep& sweep, Source x, double* result, float* scratch) {
  for_planes(sweep, [&](const Part& part) { find_statistics(sweep, part, x, scratch); });
  for_channels(sweep, sums_of_channel(sweep), [&](int64_t channel) {
    const ChannelStatistics own = join_statistics(sweep, scratch, channel);
    result[channel] = own.mean;
    result[sweep.channels + channel] = own.variance + own.mean * own.mean;
  });
}

void normalize(const Sweep& sweep, Source x, const Parameters& parameters, Target y, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  for_planes(sweep, [&](const Part& part) {
    normalize_part(part, factors.line(part.block), parameters.relu, plane(sweep, x, part),
                   plane(sweep, y, part));
  });
}

void normalize_batch(const Sweep& sweep, Source x, const Parameters& parameters, const Statistics& result,
                     Target y, float* scratch) {
  Factors factors(sweep, scratch);
  in_stages(
      sweep, [&](const Part& part) { find_statistics(sweep, part, x, scratch); },
      [&](int64_t channel) {
        keep_statistics(sweep, channel, result, scratch);
        set_line(parameters, channel, factors);
      },
      [&](const Part& part) {
        normalize_part(part, factors.line(part.block), parameters.relu, plane(sweep, x, part),
                       plane(sweep, y, part));
      });
}

void backward(const Sweep& sweep, Source x, Source dy, const Parameters& parameters, const Gradients& result,
              float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  in_stages(
      sweep, [&](const Part& part) { find_sums(sweep, part, x, dy, parameters, factors, scratch); },
      [&](int64_t channel) {
        join_sums(sweep, parameters, scratch, channel, result.dweight, result.dbias);
        set_gradient_line(sweep, parameters, {result.dweight, result.dbias, 1}, channel, factors);
      },
      [&](const Part& part) {
        find_gradients(sweep, part, x, dy, parameters, factors, result.added, result.dx);
      });
}

void backward_parameters(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                         float* dweight, float* dbias, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  for_planes(sweep, [&](const Part& part) { find_sums(sweep, part, x, dy, parameters, factors, scratch); });
  for_channels(sweep, sums_of_channel(sweep),
               [&](int64_t channel) { join_sums(sweep, parameters, scratch, channel, dweight, dbias); });
}

void backward_data(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                   const BackwardSums& sums, Source added, Target dx, float* scratch) {
  Factors factors(sweep, scratch);
  add_lines(sweep, parameters, factors);
  for_channels(sweep, 0,
               [&](int64_t channel) { set_gradient_line(sweep, parameters, sums, channel, factors); });
  for_planes(sweep,
             [&](const Part& part) { find_gradients(sweep, part, x, dy, parameters, factors, added, dx); });
}

}  // namespace

constexpr Kernels kKernels = {
    .statistics = statistics,
    .moments = moments,
    .normalize = normalize,
    .normalize_batch = normalize_batch,
    .backward = backward,
    .backward_parameters = backward_parameters,
    .backward_data = backward_data,
};

}  // namespace tacho::batch_norm::TACHO_ISA
