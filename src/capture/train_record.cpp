#include "capture/train_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/memory.h"
#include "capture/bench_record.h"

namespace tacho {
namespace {

constexpr double kMuchWaitPercent = 5;

Record describe_recipe(const Recipe& recipe, const SystemInfo& system) {
  Record record = describe(fields_of(recipe), "train");
  record.time_includes = {"update", "validation"};
  record.system = system;
  return record;
}

// What the network could do in the end. The epochs of a volume are a matter of how often it was judged.
void add_score(const Epoch& last, Record& record) {
  record.train_accuracy = last.train_accuracy;
  record.test_accuracy = last.test_accuracy;
  if (!last.constant_loss) {
    record.epoch_count = static_cast<int64_t>(record.epochs.size());
    return;
  }
  record.test_loss = last.test_loss;
  record.constant_loss = last.constant_loss;
  record.boundary_f1 = last.boundary_f1;
}

void add_epochs(const Recipe& recipe, const TrainResult& result, Record& record) {
  double seconds = 0, evaluation = 0, wait = 0;
  int64_t steps = 0;
  record.epochs = result.state.epochs;
  for (Epoch& epoch : record.epochs) {
    add_rate(epoch, global_batch(recipe));  // checkpoints of earlier versions lack it
    seconds += epoch.seconds;
    evaluation += epoch.evaluation_seconds.value_or(0);
    wait += epoch.wait_seconds.value_or(0);
    steps += epoch.steps;
  }
  if (record.epochs.empty()) return;
  record.iterations = steps;
  record.seconds = seconds + evaluation;
  record.evaluation_seconds = evaluation;
  // With --steps the last epoch is no whole one.
  if (!recipe.steps) record.seconds_per_epoch = *record.seconds / static_cast<double>(record.epochs.size());
  add_score(record.epochs.back(), record);
  if (seconds <= 0) return;
  record.images_per_s = static_cast<double>(steps * global_batch(recipe)) / seconds;
  if (record.constant_loss) record.iterations_per_min = 60 * static_cast<double>(steps) / seconds;
  record.wait_percent = 100 * wait / seconds;
}

// Training and evaluation up to the first epoch with this accuracy.
std::optional<double> seconds_to(double accuracy, const TrainState& state) {
  double seconds = 0;
  for (const Epoch& epoch : state.epochs) {
    seconds += epoch.seconds + epoch.evaluation_seconds.value_or(0);
    if (epoch.accuracy() >= accuracy) return seconds;
  }
  return std::nullopt;
}

void add_costs(const TrainResult& result, Record& record) {
  add_parts(result.passes, result.hosts, true, record);
  record.compile_ms = result.compile_ms;
  record.exchange = result.exchange;
  record.steps_left_out = result.steps_left_out;
  record.plan_memory_mib = static_cast<double>(result.plan_bytes) / kMib;
  if (result.evaluation_plan_bytes > 0) {
    record.evaluation_plan_memory_mib = static_cast<double>(result.evaluation_plan_bytes) / kMib;
  }
  double peak = 0;
  for (const auto& [phase, bytes] : result.phase_bytes) {
    record.phase_memory_mib[phase] = static_cast<double>(bytes) / kMib;
    peak = std::max(peak, record.phase_memory_mib[phase]);
  }
  if (peak > 0) record.peak_memory_mib = peak;
}

Judgement judge(const TrainResult& result, const Record& record, const SystemInfo& system) {
  if (result.end == TrainEnd::diverged) {
    return {Verdict::failed,
            fmt::format("the loss is not finite after step {}: try a smaller --lr", result.state.step)};
  }
  std::vector<std::string> reasons;
  const bool oversubscribed = !result.has_cores || record.threads > system.cores;
  if (oversubscribed) {
    reasons.push_back(
        fmt::format("{} threads share {} usable cores", record.threads * record.devices, system.cores));
  }
  if (result.end == TrainEnd::interrupted) {
    reasons.push_back(fmt::format("interrupted after {} of {} steps", result.state.step, result.steps));
  }
  if (record.wait_percent.value_or(0) > kMuchWaitPercent) {
    reasons.push_back(fmt::format("limited by its data: {:.0f} % of the training time went by waiting for it",
                                  *record.wait_percent));
  }
  return {oversubscribed ? Verdict::oversubscribed : Verdict::valid,
          fmt::format("{}", fmt::join(reasons, "; "))};
}

}  // namespace

Record make_train_record(const Recipe& recipe, const TrainControl& control, const TrainResult& result,
                         const SystemInfo& system) {
  Record record = describe_recipe(recipe, system);
  add_epochs(recipe, result, record);
  add_costs(result, record);
  if (result.hosts.size() > 1)
    record.nodes = static_cast<int>(std::set(result.hosts.begin(), result.hosts.end()).size());
  record.target_accuracy = control.target_accuracy;
  if (control.target_accuracy) record.seconds_to_target = seconds_to(*control.target_accuracy, result.state);
  record.judgement = judge(result, record, system);
  return record;
}

Record make_failed_train_record(const Recipe& recipe, Verdict verdict, const std::string& reason,
                                const SystemInfo& system) {
  Record record = describe_recipe(recipe, system);
  record.judgement = {verdict, reason};
  return record;
}

}  // namespace tacho
