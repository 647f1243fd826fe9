#include "forecast/device_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_values.h"
#include "base/text.h"
#include "forecast/device_case.h"
#include "results/format.h"
#include "results/statistics.h"
#include "results/verdict.h"

namespace tacho {
namespace {

int64_t gradient_bytes(const DevicePass& pass) {
  int64_t bytes = 0;
  for (const GradientBucket& bucket : pass.buckets) bytes += bucket.bytes;
  return bytes;
}

double efficiency_percent(const PredictedStep& step) { return 100 * step.speedup / step.devices; }

// "10Gbit,25us, 8 devices a node, within it 100Gbit,1us".
std::string network_text(const Connections& asked, const SystemInfo& system) {
  std::string text = to_string(asked.between_nodes);
  if (asked.devices_per_node == 1) return text;
  text += fmt::format(", {} devices a node, within it ", asked.devices_per_node);
  if (asked.within_node) return text + to_string(*asked.within_node);
  const auto memory = at_memory_speed(asked, system).within_node;
  if (!memory) return text + "free, as nothing was measured";
  return text + to_string(*memory) + ", the memory's speed shared out";
}

std::string passes_text(const DevicePass& pass) {
  const size_t passes = pass.record.samples_ms.size();
  const std::string pass_ms = format_significant(mean(pass.samples_ms), kFigureDigits);
  if (passes == 0) return fmt::format("a pass of {} ms without samples, so nobody waits", pass_ms);
  return fmt::format("{} of {} ms on average", passes == 1 ? "one pass" : fmt::format("{} passes", passes),
                     pass_ms);
}

std::string basis_text(const Record& record) {
  const bool doubtful = record.judgement.verdict != Verdict::valid;
  return doubtful ? fmt::format("{} ({})", shown_id(record.id), name_of(record.judgement))
                  : shown_id(record.id);
}

std::string caption(const DevicePass& pass, const Connections& connections) {
  return fmt::format(
      "{}\n"
      "simulated from record {}: {}, {} of gradients in {} buckets{}\n"
      "ring all-reduce over {}, each bucket when it is ready and the link is free\n"
      "lower: full overlap, no wait; upper: no overlap; the wait is for the slowest of so many passes drawn "
      "from "
      "the "
      "measured\n\n",
      text_of_case(pass.record), basis_text(pass.record), passes_text(pass),
      format_bytes(gradient_bytes(pass)), pass.buckets.size(),
      pass.buckets_assumed ? ", assumed to fill at an even rate" : "",
      network_text(connections, pass.record.system));
}

Grid grid_of(std::span<const PredictedStep> steps) {
  Grid grid = {.columns = {{"devices", true, Importance::most},
                           {"step ms", true, Importance::most},
                           {"lower - upper ms", true},
                           {"images/s", true, Importance::much},
                           {"speed-up", true, Importance::much},
                           {"efficiency %", true, Importance::much},
                           {"exposed all-reduce ms", true},
                           {"wait for the slowest ms", true},
                           {"verdict", false, Importance::most}},
               .rows = {}};
  for (const PredictedStep& step : steps) {
    grid.rows.push_back({std::to_string(step.devices), format_significant(step.step_ms, kFigureDigits),
                         fmt::format("{} - {}", format_significant(step.lower_ms, kFigureDigits),
                                     format_significant(step.upper_ms, kFigureDigits)),
                         format_significant(step.images_per_s, kFigureDigits),
                         format_significant(step.speedup, kRatioDigits),
                         format_significant(efficiency_percent(step), kRatioDigits),
                         fmt::format("{:.2f}", step.exposed_allreduce_ms),
                         fmt::format("{:.2f}", step.wait_ms), std::string(name_of(Verdict::simulated))});
  }
  return grid;
}

Json json_of(const DevicePass& pass, const PredictedStep& step, const Connections& connections) {
  const Record& record = pass.record;
  return {{"system", record.system.name},
          {"record", record.id},
          {"engine", record.engine},
          {"model", record.model},
          {"batch", record.batch},
          {"image", record.image},
          {"network", network_text(connections, record.system)},
          {"gradient_bytes", gradient_bytes(pass)},
          {"buckets_assumed", pass.buckets_assumed},
          {"devices", step.devices},
          {"step_ms", step.step_ms},
          {"lower_ms", step.lower_ms},
          {"upper_ms", step.upper_ms},
          {"images_per_s", step.images_per_s},
          {"speedup", step.speedup},
          {"efficiency_percent", efficiency_percent(step)},
          {"allreduce_ms", step.allreduce_ms},
          {"exposed_allreduce_ms", step.exposed_allreduce_ms},
          {"wait_ms", step.wait_ms},
          {"verdict", name_of(Verdict::simulated)}};
}

std::vector<PredictedStep> steps_of(const DevicePass& pass, std::span<const int> devices,
                                    const Connections& connections) {
  const Connections completed = at_memory_speed(connections, pass.record.system);
  std::vector<PredictedStep> steps;
  for (const int count : devices) steps.push_back(predict_step(pass, count, completed));
  return steps;
}

// What the basis says of the case, with the figures of the step alone.
Record simulated_record(const DevicePass& pass, const PredictedStep& step, const Connections& connections) {
  const Record& basis = pass.record;
  Record record = {.kind = "bench",
                   .model = basis.model,
                   .mode = basis.mode,
                   .engine = basis.engine,
                   .device = basis.device,
                   .precision = basis.precision,
                   .batch = basis.batch,
                   .devices = step.devices,
                   .threads = basis.threads,
                   .parallel = "allreduce",
                   .bucket_mib = basis.bucket_mib,
                   .image = basis.image,
                   .classes = basis.classes,
                   .seed = basis.seed,
                   .kernel = basis.kernel,
                   .autotune = basis.autotune,
                   .memory = basis.memory,
                   .time_includes = basis.time_includes,
                   .median_ms = step.step_ms,
                   .median_low_ms = step.lower_ms,
                   .median_high_ms = step.upper_ms,
                   .forward_ms = basis.forward_ms,
                   .backward_ms = basis.backward_ms,
                   .update_ms = basis.update_ms,
                   .allreduce_ms = step.allreduce_ms,
                   .exposed_allreduce_ms = step.exposed_allreduce_ms,
                   .wait_ms = step.wait_ms,
                   .images_per_s = step.images_per_s,
                   .speedup = step.speedup,
                   .judgement = {Verdict::simulated, ""},
                   .system = basis.system};
  const int per_node = connections.devices_per_node;
  record.nodes = (step.devices + per_node - 1) / per_node;
  record.judgement.reason =
      fmt::format("from record {} over {}{}", basis.id, network_text(connections, basis.system),
                  pass.buckets_assumed ? ", buckets assumed" : "");
  return record;
}

}  // namespace

Connections at_memory_speed(Connections connections, const SystemInfo& system) {
  if (connections.within_node) return connections;
  double bandwidth_gbs = 0;
  for (const MachineSpeed& speed : system.speeds)
    bandwidth_gbs = std::max(bandwidth_gbs, speed.bandwidth_gbs);
  if (bandwidth_gbs > 0) {
    connections.within_node =
        NetworkSpeed{.bytes_per_s = bandwidth_gbs * 1e9 / connections.devices_per_node, .latency_s = 0};
  }
  return connections;
}

std::string format_predicted_steps(std::span<const DevicePass> passes, std::span<const int> devices,
                                   const Connections& connections, const Layout& layout) {
  std::string text;
  Json list = Json::array();
  for (const DevicePass& pass : passes) {
    const std::vector<PredictedStep> steps = steps_of(pass, devices, connections);
    for (const PredictedStep& step : steps) list.push_back(json_of(pass, step, connections));
    text += (text.empty() ? "" : "\n") + wrap(caption(pass, connections), layout.width) +
            render(grid_of(steps), layout);
  }
  return is_for_people(layout.format) ? text : format_objects(list, layout.format);
}

std::vector<Record> simulated_records(std::span<const DevicePass> passes, std::span<const int> devices,
                                      const Connections& connections) {
  std::vector<Record> records;
  for (const DevicePass& pass : passes) {
    for (const PredictedStep& step : steps_of(pass, devices, connections)) {
      if (step.devices > 1) records.push_back(simulated_record(pass, step, connections));
    }
  }
  return records;
}

}  // namespace tacho
