#include "capture/bench_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/json_values.h"
#include "base/memory.h"
#include "engine/engines.h"
#include "results/fields.h"
#include "results/statistics.h"

namespace tacho {
namespace {

using Part = double PassParts::*;

// How much a pass counts in a record's parts: only the middle half by duration does, and so that parts which
// add up in each pass add up to the median.
std::vector<double> pass_weights(std::span<const double> samples_ms) {
  std::vector<size_t> order(samples_ms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t pass) { return samples_ms[pass]; });
  const size_t outer = (order.size() + 1) / 4;
  const auto middle = std::span(order).subspan(outer, order.size() - 2 * outer);
  double middle_ms = 0;
  for (const size_t pass : middle) middle_ms += samples_ms[pass];
  std::vector<double> weights(samples_ms.size());
  for (const size_t pass : middle) weights[pass] = middle_ms > 0 ? median(samples_ms) / middle_ms : 0;
  return weights;
}

// Of one rank.
double part_of(Part part, std::span<const PassParts> passes, std::span<const double> weights) {
  double sum = 0;
  for (size_t i = 0; i < passes.size(); ++i) sum += weights[i] * passes[i].*part;
  return sum;
}

// The mean over all ranks.
double mean_of(Part part, const JointPasses& passes, std::span<const double> weights) {
  double sum = 0;
  for (const auto& of_rank : passes.parts) sum += part_of(part, of_rank, weights);
  return sum / static_cast<double>(passes.parts.size());
}

RankTimes times_of(int rank, const std::string& host, const std::function<double(Part)>& part, bool training,
                   bool scattered) {
  RankTimes times = {.rank = rank,
                     .host = host,
                     .forward_ms = part(&PassParts::forward_ms),
                     .wait_ms = part(&PassParts::wait_ms)};
  if (scattered) {
    times.scatter_ms = part(&PassParts::scatter_ms);
    times.gather_ms = part(&PassParts::gather_ms);
  }
  if (!training) return times;
  times.backward_ms = part(&PassParts::backward_ms);
  times.allreduce_ms = part(&PassParts::allreduce_ms);
  times.exposed_allreduce_ms = part(&PassParts::exposed_allreduce_ms);
  times.update_ms = part(&PassParts::update_ms);
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
double peak_of(const GpuSpeed& speed, const std::string& precision) {
  return speed.precision == precision ? speed.product_gflops : 0;
}
double peak_of(const MachineSpeed& speed, const std::string& precision) {
  if (precision == kSinglePrecision) return speed.fma_gflops;
  return precision == "bf16" ? speed.bf16_gflops.value_or(0) : 0;
}

void add(const GpuSpeed& speed, SystemInfo& system) {
  if (speed.product_gflops > 0) system.gpu_speeds = {speed};
}
void add(const MachineSpeed& speed, SystemInfo& system) {
  if (speed.fma_gflops > 0) system.speeds = {speed};
}

void add_peak(const DeviceSpeed& speed, const std::string& precision, Record& record) {
  std::visit(
      [&](const auto& of) {
        const double peak = peak_of(of, precision);
        add(of, record.system);
        if (peak > 0) record.percent_of_peak = 100 * *record.gflops / peak;
      },
      speed);
}

void add_rates(const Case& cell, const Measurement& measurement, const std::optional<DeviceSpeed>& speed,
               Record& record) {
  const double median_s = *record.median_ms / 1e3, mean_s = *record.mean_ms / 1e3;
  if (median_s <= 0) return;  // below what the clock can tell
  record.images_per_s = static_cast<double>(images_per_pass(cell)) / mean_s;
  if (measurement.joules)
    record.joules_per_image = *measurement.joules / static_cast<double>(images_per_pass(cell) * cell.repeat);
  if (measurement.flop == 0) return;
  record.flop_per_pass = measurement.flop;
  record.bytes_per_pass = measurement.bytes;
  record.gflops = static_cast<double>(measurement.flop) / median_s / 1e9;
  if (speed) add_peak(*speed, cell.execution.precision, record);
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

void add_gpu(const Case& cell, const Measurement& measurement, Record& record) {
  record.gpu = measurement.gpu;
  record.system.libraries.merge(find_engine(cell.execution.engine).gpu_libraries());
}

}  // namespace

std::string unique_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void add_parts(const JointPasses& passes, std::span<const std::string> hosts, bool training, Record& record) {
  const bool scattered = record.parallel == kScatter, shared = passes.parts.size() > 1 || scattered;
  if (passes.samples_ms.empty() || (!training && !shared)) return;
  const std::vector<double> weights = pass_weights(passes.samples_ms);
  const auto mean = [&](Part part) { return mean_of(part, passes, weights); };
  record.forward_ms = mean(&PassParts::forward_ms);
  if (training) {
    record.backward_ms = mean(&PassParts::backward_ms);
    record.update_ms = mean(&PassParts::update_ms);
  }
  if (!shared) return;
  record.wait_ms = mean(&PassParts::wait_ms);
  record.bytes_moved = passes.bytes_moved;
  if (scattered) {
    record.scatter_ms = mean(&PassParts::scatter_ms);
    record.gather_ms = mean(&PassParts::gather_ms);
  }
  if (training) {
    record.allreduce_ms = mean(&PassParts::allreduce_ms);
    record.exposed_allreduce_ms = mean(&PassParts::exposed_allreduce_ms);
  }
  for (size_t rank = 0; rank < passes.parts.size() && passes.parts.size() > 1; ++rank) {
    const auto own = [&](Part part) { return part_of(part, passes.parts[rank], weights); };
    record.ranks.push_back(times_of(static_cast<int>(rank), hosts[rank], own, training, scattered));
  }
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
                   const std::optional<DeviceSpeed>& speed) {
  Record record = describe_case(cell);
  record.system = system;
  if (measurement.status != Status::measured) {
    const bool memory = measurement.status == Status::out_of_memory;
    record.judgement = {memory ? Verdict::out_of_memory : Verdict::failed, measurement.reason};
    return record;
  }
  if (cell.execution.device != kCpu) add_gpu(cell, measurement, record);
  add_statistics(measurement, record);
  add_parts(measurement.passes, measurement.hosts, cell.mode == Mode::train, record);
  for (const ReadyGradients& ready : measurement.buckets)
    record.buckets.push_back({ready.bytes, ready.ready_ms});
  if (measurement.hosts.size() > 1)
    record.nodes = static_cast<int>(std::set(measurement.hosts.begin(), measurement.hosts.end()).size());
  add_rates(cell, measurement, speed, record);
  add_memory(measurement, record);
  record.exchange = measurement.exchange;
  record.steps_left_out = measurement.steps_left_out;
  record.judgement = judge(cell, measurement, system);
  return record;
}

}  // namespace tacho
