#pragma once

#include "results/example_record.h"
#include "results/profile.h"

namespace tacho {

// A pass of 100 ms on a machine of 100 GFLOP/s and 10 GB/s, for tests.
inline Profile example_profile() {
  Profile profile = {.pass = example_record(),
                     .speed = {.threads = 2, .fma_gflops = 100, .bandwidth_gbs = 10},
                     .layers = {}};
  profile.pass.median_ms = 100;
  profile.layers = {
      {.name = "conv1",
       .op = "convolution",
       .phase = "forward",
       .kernel = "reorder + direct",
       .flop = 2'000'000'000,
       .bytes = 100'000'000,
       .samples_ms = {90, 40, 39},
       .begin_ms = 0.5,
       .end_ms = 39.5},
      {.name = "pool",
       .op = "max_pool",
       .phase = "forward",
       .kernel = "jit",
       .bytes = 50'000'000,
       .samples_ms = {10, 10, 10},
       .begin_ms = 39.5,
       .end_ms = 49.5},
      {.name = "conv2",
       .op = "convolution",
       .phase = "forward",
       .kernel = "winograd_3x3",
       .flop = 4'000'000'000,
       .bytes = 10'000'000,
       .samples_ms = {20, 20, 20},
       .begin_ms = 49.5,
       .end_ms = 69.5},
      {.name = "conv3",
       .op = "convolution",
       .phase = "forward",
       .kernel = "reorder + direct",
       .flop = 1'000'000'000,
       .bytes = 10'000'000,
       .samples_ms = {28, 28, 28},
       .begin_ms = 69.5,
       .end_ms = 97.5},
  };
  return profile;
}

}  // namespace tacho
