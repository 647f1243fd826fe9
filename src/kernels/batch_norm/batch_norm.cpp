#include "kernels/batch_norm/batch_norm.h"

#include <algorithm>
#include <cassert>

#include "kernels/batch_norm/batch_norm_kernels.h"
#include "kernels/batch_norm/channel_loop.h"
#include "kernels/blocked/widths.h"

namespace tacho::batch_norm {
namespace {

const Kernels& kernels(const Sweep& sweep) {
  assert(!blocked::why_unsupported(sweep.lanes));
  return sweep.lanes == 16 ? avx512::kKernels : avx2::kKernels;
}

Loop sweep_loop(const Sweep& sweep) { return loop_over(parts_of(sweep)); }

// A cell of a block takes about as long as two sums.
Loop channels_loop(const Sweep& sweep, int64_t sums) {
  return {.items = shares_channels(sweep, sums) ? sweep.channels : 1,
          .work = 0.5 * static_cast<double>(sweep.channels * (kSumsPerChannel + sums))};
}

Loop factors_loop(const Sweep& sweep) { return channels_loop(sweep, 0); }

Loop join_loop(const Sweep& sweep) { return channels_loop(sweep, sums_of_channel(sweep)); }

// What all parts are read for, what is made of that for each channel, and what all parts are read for then.
void add_stages(const Sweep& sweep, int threads, Split& split) {
  const Loop stages[] = {sweep_loop(sweep), join_loop(sweep), factors_loop(sweep), sweep_loop(sweep)};
  if (takes_blocks_apart(sweep, threads)) {
    split.loops.push_back(
        {.items = channel_blocks(sweep), .work = work_of({{std::begin(stages), std::end(stages)}})});
  } else {
    split.loops.insert(split.loops.end(), std::begin(stages), std::end(stages));
  }
}

}  // namespace

Split statistics_split(const Sweep& sweep) { return {{sweep_loop(sweep), join_loop(sweep)}}; }

Split normalize_split(const Sweep& sweep) { return {{factors_loop(sweep), sweep_loop(sweep)}}; }

Split normalize_batch_split(const Sweep& sweep, int threads) {
  Split result;
  add_stages(sweep, threads, result);
  return result;
}

Split backward_split(const Sweep& sweep, int threads) {
  Split result = {{factors_loop(sweep)}};
  add_stages(sweep, threads, result);
  return result;
}

Split backward_parameters_split(const Sweep& sweep) {
  return {{factors_loop(sweep), sweep_loop(sweep), join_loop(sweep)}};
}

Split backward_data_split(const Sweep& sweep) {
  return {{factors_loop(sweep), factors_loop(sweep), sweep_loop(sweep)}};
}

int64_t scratch_floats(const Sweep& sweep) {
  return (parts_of(sweep).items() * 2 + kFactorRows * channel_blocks(sweep)) * sweep.lanes;
}

void statistics(const Sweep& sweep, Source x, const Statistics& result, float* scratch) {
  kernels(sweep).statistics(sweep, x, result, scratch);
}

void moments(const Sweep& sweep, Source x, double* result, float* scratch) {
  kernels(sweep).moments(sweep, x, result, scratch);
}

void statistics_of_sums(const Sweep& sweep, const double* sums, int devices, const Statistics& result) {
  for (int64_t channel = 0; channel < sweep.channels; ++channel) {
    const double mean = sums[channel] / devices, square = sums[sweep.channels + channel] / devices;
    result.mean[channel] = static_cast<float>(mean);
    result.variance[channel] = static_cast<float>(std::max(square - mean * mean, 0.0));
  }
}

void normalize(const Sweep& sweep, Source x, const Parameters& parameters, Target y, float* scratch) {
  kernels(sweep).normalize(sweep, x, parameters, y, scratch);
}

void normalize_batch(const Sweep& sweep, Source x, const Parameters& parameters, const Statistics& result,
                     Target y, float* scratch) {
  kernels(sweep).normalize_batch(sweep, x, parameters, result, y, scratch);
}

void backward(const Sweep& sweep, Source x, Source dy, const Parameters& parameters, const Gradients& result,
              float* scratch) {
  kernels(sweep).backward(sweep, x, dy, parameters, result, scratch);
}

void backward_parameters(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                         float* dweight, float* dbias, float* scratch) {
  kernels(sweep).backward_parameters(sweep, x, dy, parameters, dweight, dbias, scratch);
}

void backward_data(const Sweep& sweep, Source x, Source dy, const Parameters& parameters,
                   const BackwardSums& sums, Source added, Target dx, float* scratch) {
  kernels(sweep).backward_data(sweep, x, dy, parameters, sums, added, dx, scratch);
}

}  // namespace tacho::batch_norm
