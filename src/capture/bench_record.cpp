#include "capture/bench_record.h"

#include <fmt/format.h>

#include <random>
#include <set>

#include "base/clock.h"
#include "base/json_values.h"
#include "base/memory.h"
#include "results/fields.h"
#include "results/statistics.h"

namespace tacho {
namespace {

using Part = double PassParts::*;

// The median over the passes of one rank.
double median_of(Part part, std::span<const PassParts> passes) {
  std::vector<double> samples;
  for (const PassParts& pass : passes) samples.push_back(pass.*part);
  return median(samples);
}

// The median over the passes of the mean over all ranks.
double mean_of(Part part, const JointPasses& passes) {
  std::vector<double> means(passes.samples_ms.size());
  for (const auto& of_rank : passes.parts) {
    for (size_t i = 0; i < means.size(); ++i)
      means[i] += of_rank[i].*part / static_cast<double>(passes.parts.size());
  }
  return median(means);
}

RankTimes times_of(int rank, const std::string& host, std::span<const PassParts> passes, bool training,
                   bool scattered) {
  RankTimes times = {.rank = rank,
                     .host = host,
                     .forward_ms = median_of(&PassParts::forward_ms, passes),
                     .wait_ms = median_of(&PassParts::wait_ms, passes)};
  if (scattered) {
    times.scatter_ms = median_of(&PassParts::scatter_ms, passes);
    times.gather_ms = median_of(&PassParts::gather_ms, passes);
  }
  if (!training) return times;
  times.backward_ms = median_of(&PassParts::backward_ms, passes);
  times.allreduce_ms = median_of(&PassParts::allreduce_ms, passes);
  times.exposed_allreduce_ms = median_of(&PassParts::exposed_allreduce_ms, passes);
  times.update_ms = median_of(&PassParts::update_ms, passes);
  return times;
}

void add_statistics(const Measurement& measurement, Record& record) {
  const auto& samples = measurement.passes.samples_ms;
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
}

// Of products in these numbers; 0 where it is not known.
double peak_of(const MachineSpeed& speed, const std::string& precision) {
  if (precision == kSinglePrecision) return speed.fma_gflops;
  return precision == "bf16" ? speed.bf16_gflops.value_or(0) : 0;
}

void add_rates(const Case& cell, const Measurement& measurement, const std::optional<MachineSpeed>& speed,
               Record& record) {
  const double median_s = *record.median_ms / 1e3, mean_s = *record.mean_ms / 1e3;
  if (median_s <= 0) return;  // below what the clock can tell
  record.images_per_s = static_cast<double>(images_per_pass(cell)) / mean_s;
  const bool on_cpu = cell.execution.device == kCpu;
  if (measurement.joules)
    record.joules_per_image = *measurement.joules / static_cast<double>(images_per_pass(cell) * cell.repeat);
  if (measurement.flop == 0) return;
  record.flop_per_pass = measurement.flop;
  record.bytes_per_pass = measurement.bytes;
  record.gflops = static_cast<double>(measurement.flop) / median_s / 1e9;
  if (!speed || !on_cpu) return;
  record.system.speeds = {*speed};
  const double peak = peak_of(*speed, cell.execution.precision);
  if (peak > 0) record.percent_of_peak = 100 * *record.gflops / peak;
}

// More threads than cores, whatever the noise.
Judgement judge(const Case& cell, const Measurement& measurement, const SystemInfo& system) {
  const int threads = cell.execution.threads;
  if (!measurement.has_cores) {
    return {Verdict::oversubscribed, fmt::format("{} devices of {} threads share {} usable cores",
                                                 cell.execution.devices, threads, system.cores)};
  }
  return judge_samples(measurement.passes.samples_ms, threads, system.cores);
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

void add_parts(const JointPasses& passes, std::span<const std::string> hosts, bool training, Record& record) {
  const bool scattered = record.parallel == kScatter, shared = passes.parts.size() > 1 || scattered;
  if (passes.samples_ms.empty() || (!training && !shared)) return;
  record.forward_ms = mean_of(&PassParts::forward_ms, passes);
  if (training) {
    record.backward_ms = mean_of(&PassParts::backward_ms, passes);
    record.update_ms = mean_of(&PassParts::update_ms, passes);
  }
  if (!shared) return;
  record.wait_ms = mean_of(&PassParts::wait_ms, passes);
  record.bytes_moved = passes.bytes_moved;
  if (scattered) {
    record.scatter_ms = mean_of(&PassParts::scatter_ms, passes);
    record.gather_ms = mean_of(&PassParts::gather_ms, passes);
  }
  if (training) {
    record.allreduce_ms = mean_of(&PassParts::allreduce_ms, passes);
    record.exposed_allreduce_ms = mean_of(&PassParts::exposed_allreduce_ms, passes);
  }
  for (size_t rank = 0; rank < passes.parts.size() && passes.parts.size() > 1; ++rank)
    record.ranks.push_back(
        times_of(static_cast<int>(rank), hosts[rank], passes.parts[rank], training, scattered));
}

Record describe(const Json& fields, std::string_view kind) {
  Record record = {.id = unique_id(), .time = utc_now(), .kind = std::string(kind)};
  set_fields(fields, record);
  return record;
}

Record describe_case(const Case& cell) {
  Record record = describe(fields_of(cell), "bench");
  if (cell.mode == Mode::train) record.time_includes = {"update"};
  if (cell.execution.parallel == kScatter) record.time_includes = {"transfer"};
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
  add_parts(measurement.passes, measurement.hosts, cell.mode == Mode::train, record);
  for (const ReadyGradients& ready : measurement.buckets)
    record.buckets.push_back({ready.bytes, ready.ready_ms});
  if (measurement.hosts.size() > 1)
    record.nodes = static_cast<int>(std::set(measurement.hosts.begin(), measurement.hosts.end()).size());
  add_rates(cell, measurement, speed, record);
  add_memory(measurement, record);
  record.judgement = judge(cell, measurement, system);
  return record;
}

}  // namespace tacho
