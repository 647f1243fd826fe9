#include "capture/predict_record.h"

#include <fmt/ranges.h>

#include <set>

#include "base/json_values.h"
#include "capture/bench_record.h"
#include "predict/border_name.h"

namespace tacho {
namespace {

constexpr double kBytesPerMib = 1 << 20;
constexpr double kMuchIdlePercent = 5;

Record describe_prediction(const PredictionJob& job, const PredictionResult& result) {
  Record record = describe(fields_of(job.execution, false), "predict");
  record.model = job.model;
  record.mode = "infer";
  record.batch = 1;
  record.image = to_string(result.volume);
  record.data = job.input;
  record.block = to_string(result.block);
  record.halo = job.halo ? to_string(*job.halo) : "exact";
  record.border = name_of(job.border);
  record.dtype = name_of(job.type);
  record.compression = name_of(job.compression);
  record.time_includes = {"halo", "read", "write"};
  return record;
}

void add_speed(const PredictionResult& result, Record& record) {
  if (result.blocks == 0 || result.seconds <= 0) return;
  record.seconds = result.seconds;
  record.output_mvox_per_s = static_cast<double>(result.output_voxels) / result.seconds / 1e6;
  record.input_mvox_per_s = static_cast<double>(result.input_voxels) / result.seconds / 1e6;
  record.device_idle_percent = 100 * (1 - result.network_ms / 1e3 / result.seconds);
  record.gflops = result.flop / result.seconds / 1e9;
  record.halo_saved_percent = 100 * result.saved_share;
  record.input_wait_ms = result.input_wait_ms;
  record.output_wait_ms = result.output_wait_ms;
  record.reader_wait_ms = result.reader_wait_ms;
  record.writer_wait_ms = result.writer_wait_ms;
}

Judgement judge(const PredictionJob& job, const PredictionResult& result, const Record& record) {
  std::vector<std::string> reasons;
  if (!result.has_cores) reasons.emplace_back("more threads than usable cores");
  if (job.halo) {
    reasons.push_back(
        fmt::format("inexact: beyond a halo of {} the network saw zeros", to_string(*job.halo)));
  }
  if (result.blocks_before > 0)
    reasons.push_back(
        fmt::format("{} of {} blocks were there already", result.blocks_before, result.all_blocks));
  if (result.blocks + result.blocks_before < result.all_blocks) {
    reasons.push_back(fmt::format("interrupted after {} of {} blocks", result.blocks + result.blocks_before,
                                  result.all_blocks));
  }
  if (record.device_idle_percent.value_or(0) > kMuchIdlePercent) {
    reasons.push_back(
        fmt::format("the network was idle for {:.0f} % of the time", *record.device_idle_percent));
  }
  return {result.has_cores ? Verdict::valid : Verdict::oversubscribed,
          fmt::format("{}", fmt::join(reasons, "; "))};
}

}  // namespace

Record make_predict_record(const PredictionJob& job, const PredictionResult& result,
                           const SystemInfo& system) {
  Record record = describe_prediction(job, result);
  record.system = system;
  record.blocks = result.blocks;
  add_speed(result, record);
  record.bytes_read = result.bytes_read;
  record.bytes_written = result.bytes_written;
  record.compile_ms = result.compile_ms;
  record.plan_memory_mib = static_cast<double>(result.plan_bytes) / kBytesPerMib;
  record.peak_memory_mib = static_cast<double>(result.peak_memory_bytes) / kBytesPerMib;
  if (result.hosts.size() > 1)
    record.nodes = static_cast<int>(std::set(result.hosts.begin(), result.hosts.end()).size());
  record.slices = result.slices;
  record.judgement = judge(job, result, record);
  return record;
}

}  // namespace tacho
