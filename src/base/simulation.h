#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// One after the other: `rounds` times a loop over `items` that threads share.
struct SimulatedLoop {
  int64_t items = 1, rounds = 1;
};

// How threads would share a step.
struct SimulatedSplit {
  std::vector<SimulatedLoop> loops = {};
  double largest_share = 1;   // of one thread's work alone, by the threads that the others wait for
  double measured_share = 1;  // the same with as many threads as were measured
};

struct SimulatedStep {
  std::string layer = {}, phase = {}, kernel = {};
  std::vector<double> samples_ms = {};
  std::optional<SimulatedSplit> split = {};  // nothing for a library's kernel, which does not say
};

// What more threads than there are would have to do, by how kernels split their work; none of them ran.
struct Simulation {
  int threads = 1;
  std::vector<SimulatedStep> steps = {};  // in order of execution
};

}  // namespace tacho
