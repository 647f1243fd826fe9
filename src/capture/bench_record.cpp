#include "capture/bench_record.h"

#include <fmt/format.h>

#include <random>

#include "base/clock.h"
#include "base/json_values.h"
#include "results/fields.h"
#include "results/statistics.h"

namespace tacho {
namespace {

constexpr double kMib = 1 << 20;

void add_statistics(const Measurement& measurement, Record& record) {
  const auto& samples = measurement.samples_ms;
  record.samples_ms = samples;
  record.median_ms = median(samples);
  record.mad_ms = mad(samples);
  record.min_ms = minimum(samples);
  record.mean_ms = mean(samples);
  if (const auto interval = median_interval(samples)) {
    record.median_low_ms = interval->low;
    record.median_high_ms = interval->high;
  }
  record.p95_ms = percentile(samples, 0.95);
  record.drift_percent = drift_percent(samples);
  record.outliers = count_outliers(samples);
  add_phases(measurement.phases, record);
}

void add_rates(const Case& cell, const Measurement& measurement, const std::optional<MachineSpeed>& speed,
               Record& record) {
  const double median_s = *record.median_ms / 1e3, mean_s = *record.mean_ms / 1e3;
  if (median_s <= 0) return;  // below what the clock can tell
  record.images_per_s = static_cast<double>(cell.batch * cell.execution.devices) / mean_s;
  if (measurement.flop == 0) return;
  record.flop_per_pass = measurement.flop;
  record.bytes_per_pass = measurement.bytes;
  record.gflops = static_cast<double>(measurement.flop) / median_s / 1e9;
  if (!speed) return;
  record.system.speeds = {*speed};
  if (speed->fma_gflops > 0) record.percent_of_peak = 100 * *record.gflops / speed->fma_gflops;
}

void add_memory(const Measurement& measurement, Record& record) {
  record.compile_ms = measurement.compile_ms;
  if (measurement.peak_memory_bytes > 0) {
    record.peak_memory_mib = static_cast<double>(measurement.peak_memory_bytes) / kMib;
  }
  record.plan_memory_mib = static_cast<double>(measurement.plan_memory_bytes) / kMib;
}

}  // namespace

std::string unique_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void add_phases(const PhaseSamples& phases, Record& record) {
  if (phases.forward_ms.empty()) return;
  record.forward_ms = median(phases.forward_ms);
  record.backward_ms = median(phases.backward_ms);
  record.update_ms = median(phases.update_ms);
}

Record describe(const Json& fields, std::string_view kind) {
  Record record = {.id = unique_id(), .time = utc_now(), .kind = std::string(kind)};
  set_fields(fields, record);
  return record;
}

Record describe_case(const Case& cell) {
  Record record = describe(fields_of(cell), "bench");
  if (cell.mode == Mode::train) record.time_includes = {"update"};
  return record;
}

Record make_record(const Case& cell, const Measurement& measurement, const SystemInfo& system,
                   const std::optional<MachineSpeed>& speed) {
  Record record = describe_case(cell);
  record.system = system;
  if (measurement.status != Status::measured) {
    const bool memory = measurement.status == Status::out_of_memory;
    record.judgement = {memory ? Verdict::out_of_memory : Verdict::failed, measurement.reason};
    return record;
  }
  add_statistics(measurement, record);
  add_rates(cell, measurement, speed, record);
  add_memory(measurement, record);
  record.judgement =
      judge_samples(measurement.samples_ms, cell.execution.threads * cell.execution.devices, system.cores);
  return record;
}

}  // namespace tacho
