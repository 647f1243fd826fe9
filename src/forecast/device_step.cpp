#include "forecast/device_step.h"

#include <algorithm>
#include <cmath>

#include "results/statistics.h"

namespace tacho {
namespace {

bool was_trained_on_one_device(const Record& record) {
  return record.mode == "train" && record.devices == 1 && record.batch > 0 && has_figures(record.judgement) &&
         record.judgement.verdict != Verdict::simulated;
}

}  // namespace

std::optional<DevicePass> device_pass(const Record& record, int64_t gradient_bytes) {
  if (!was_trained_on_one_device(record)) return std::nullopt;
  if (!record.forward_ms || !record.backward_ms || !record.update_ms) return std::nullopt;
  const double phases_ms = *record.forward_ms + *record.backward_ms + *record.update_ms;
  if (phases_ms <= 0) return std::nullopt;  // too short for the clock
  DevicePass pass = {.record = record, .samples_ms = record.samples_ms, .buckets = record.buckets};
  if (pass.samples_ms.empty()) pass.samples_ms = {phases_ms};
  if (pass.buckets.empty()) {
    pass.buckets = assumed_buckets(gradient_bytes, *record.backward_ms);
    pass.buckets_assumed = true;
  }
  return pass.buckets.empty() ? std::nullopt : std::optional(pass);
}

double expected_slowest_ms(std::span<const double> samples_ms, int draws) {
  std::vector<double> sorted(samples_ms.begin(), samples_ms.end());
  std::ranges::sort(sorted);
  const double count = static_cast<double>(sorted.size());
  double expected_ms = 0, all_below = 0;  // the probability that no draw is slower than the sample before
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double none_slower = std::pow(static_cast<double>(i + 1) / count, draws);
    expected_ms += sorted[i] * (none_slower - all_below);
    all_below = none_slower;
  }
  return expected_ms;
}

PredictedStep predict_step(const DevicePass& pass, int devices, const Connections& connections) {
  const double pass_ms = mean(pass.samples_ms), backward_ms = *pass.record.backward_ms;
  const Exchange gradients = exchange(pass.buckets, backward_ms, devices, connections);
  PredictedStep step = {.devices = devices,
                        .allreduce_ms = gradients.total_ms,
                        .exposed_allreduce_ms = gradients.exposed_ms,
                        .wait_ms = std::max(0.0, expected_slowest_ms(pass.samples_ms, devices) - pass_ms)};
  step.step_ms = pass_ms + step.wait_ms + step.exposed_allreduce_ms;
  step.lower_ms = pass_ms + std::max(0.0, gradients.total_ms - backward_ms);
  step.upper_ms = pass_ms + step.wait_ms + step.allreduce_ms;
  step.images_per_s = static_cast<double>(pass.record.batch * devices) / step.step_ms * 1e3;
  step.speedup = devices * pass_ms / step.step_ms;
  return step;
}

}  // namespace tacho
