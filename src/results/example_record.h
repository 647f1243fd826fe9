#pragma once

#include "results/record.h"

namespace tacho {

// A finished measurement, for tests.
inline Record example_record(std::string id = "00000000000000aa") {
  return {
      .id = std::move(id),
      .time = "2026-11-15T12:00:00Z",
      .kind = "bench",
      .model = "resnet18",
      .mode = "infer",
      .engine = "native",
      .precision = "f32",
      .batch = 16,
      .devices = 1,
      .threads = 2,
      .image = "224x224",
      .classes = 1000,
      .warmup = 5,
      .repeat = 3,
      .samples_ms = {101.25, 99.5, 100.125},
      .median_ms = 100.125,
      .mad_ms = 0.625,
      .min_ms = 99.5,
      .mean_ms = 100.29166666666667,
      .images_per_s = 16e3 / 100.29166666666667,
      .judgement = {Verdict::valid, "quiet"},
      .system = {.name = "bench1", .cpu = "A CPU", .cores = 2, .engines = {{"native", "oneDNN 2.6.3"}}},
  };
}

}  // namespace tacho
