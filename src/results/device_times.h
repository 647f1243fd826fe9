#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/carried.h"

namespace tacho {

// Where the time of a pass went on one device: medians over the passes. In each of them the parts but
// `allreduce_ms` add up to the pass.
struct RankTimes {
  int rank = 0;
  std::string host = {};
  std::optional<double> scatter_ms = {}, forward_ms = {}, backward_ms = {};
  std::optional<double> allreduce_ms = {};          // of all gradients, whatever ran meanwhile
  std::optional<double> exposed_allreduce_ms = {};  // of that, after the slowest device's backward pass
  std::optional<double> wait_ms = {};               // for the slowest device
  std::optional<double> update_ms = {}, gather_ms = {};
  Carried carried = {};
};

// Gradients that are exchanged in one go.
struct GradientBucket {
  int64_t bytes = 0;
  double ready_ms = 0;  // after the backward pass began
  Carried carried = {};
};

}  // namespace tacho
