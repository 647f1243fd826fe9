#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/environment.h"
#include "results/verdict.h"

namespace tacho {

// One result, complete in itself: the only bridge from measuring to reporting. Its fields' names and formats
// are the table in results/fields.h.
struct Record {
  static constexpr int kSchema = 1;

  int schema = kSchema;
  std::string id = {};
  std::string time = {};  // ISO 8601, UTC
  std::string kind = {};  // "bench"

  std::string model = {}, mode = {}, engine = {}, precision = {};
  int64_t batch = 0;
  int devices = 0;
  int threads = 0;
  std::string image = {};  // always every axis: "224x224", "40x216x216"
  int64_t classes = 0;
  int warmup = 0, repeat = 0;
  uint64_t seed = 0;
  std::string weights = {};  // the file; empty for random weights

  std::vector<double> samples_ms = {};
  std::optional<double> median_ms = {}, mad_ms = {}, min_ms = {}, mean_ms = {};
  std::optional<double> median_low_ms = {}, median_high_ms = {};  // 95 % interval of the median
  std::optional<double> p95_ms = {};
  std::optional<double> forward_ms = {}, backward_ms = {}, update_ms = {};
  std::optional<double> images_per_s = {}, gflops = {}, percent_of_peak = {};
  std::optional<double> compile_ms = {}, peak_memory_mib = {}, plan_memory_mib = {};

  Judgement judgement = {};
  SystemInfo system = {};
};

}  // namespace tacho
