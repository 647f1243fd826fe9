#include "kernels/batch_norm/batch_norm.h"

namespace tacho::batch_norm {
namespace {

Loop sweep_loop(const Sweep& sweep) { return blocked::sweep_split(sweep).loops.front(); }

// Factors of all channels.
Loop factors_loop(const Sweep& sweep) { return {.work = 10.0 * static_cast<double>(sweep.channels)}; }

// Adds up what planes have found of each channel.
Loop join_loop(const Sweep& sweep) {
  return {.work = static_cast<double>(sweep.channels * (10 + sweep.batch))};
}

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
