#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm/channel_loop.h"

namespace tacho::batch_norm {
namespace {

Loop sweep_loop(const Sweep& sweep) { return loop_over(parts_of(sweep)); }

// A cell of 8 channels takes about as long as two sums.
Loop channels_loop(const Sweep& sweep, int64_t sums) {
  return {.items = shares_channels(sweep, sums) ? sweep.channels : 1,
          .work = 0.5 * static_cast<double>(sweep.channels * (kSumsPerChannel + sums))};
}

Loop factors_loop(const Sweep& sweep) { return channels_loop(sweep, 0); }

Loop join_loop(const Sweep& sweep) { return channels_loop(sweep, sums_of_channel(sweep)); }

}  // namespace

Split statistics_split(const Sweep& sweep) { return {{sweep_loop(sweep), join_loop(sweep)}}; }

Split normalize_split(const Sweep& sweep) { return {{factors_loop(sweep), sweep_loop(sweep)}}; }

Split backward_parameters_split(const Sweep& sweep) {
  return {{factors_loop(sweep), sweep_loop(sweep), join_loop(sweep)}};
}

Split backward_data_split(const Sweep& sweep) {
  return {{factors_loop(sweep), factors_loop(sweep), sweep_loop(sweep)}};
}

Split backward_split(const Sweep& sweep) {
  Split result = backward_parameters_split(sweep);
  result.loops.push_back(factors_loop(sweep));
  result.loops.push_back(sweep_loop(sweep));
  return result;
}

}  // namespace tacho::batch_norm
