#pragma once

#include <optional>
#include <span>
#include <vector>

#include "forecast/exchange.h"
#include "results/record.h"

// How long a training step takes on many devices, from what it takes on one. Pure functions of records.
namespace tacho {

// A pass that was measured on one device, and that each of many devices will do with a batch of its own.
struct DevicePass {
  Record record;                   // with its phases
  std::vector<double> samples_ms;  // at least one
  std::vector<GradientBucket> buckets;
  bool buckets_assumed = false;
};

// Nothing where the record is no training on one device with phases and gradients. `gradient_bytes` count
// where the record does not have its buckets; 0: they are not known either.
std::optional<DevicePass> device_pass(const Record& record, int64_t gradient_bytes);

// Of n draws, with replacement, from the samples: the sum over the sorted x(i) of
// x(i) ((i/N)^n - ((i-1)/N)^n). Never above the largest sample.
double expected_slowest_ms(std::span<const double> samples_ms, int draws);

struct PredictedStep {
  int devices = 1;
  double step_ms = 0;   // wait and exposed all-reduce included
  double lower_ms = 0;  // nobody waits, and the link is busy from the beginning of the backward pass
  double upper_ms = 0;  // all of the all-reduce comes after the backward pass
  double allreduce_ms = 0, exposed_allreduce_ms = 0;
  double wait_ms = 0;  // for the slowest device
  double images_per_s = 0;
  double speedup = 1;
};

PredictedStep predict_step(const DevicePass& pass, int devices, const Connections& connections);

}  // namespace tacho
