#include "session/bench_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/cpu.h"
#include "bench/profile.h"
#include "bench/runner.h"
#include "capture/bench_record.h"
#include "engine/engines.h"
#include "tensors/model_weights.h"

namespace tacho {
namespace {

using Note = std::function<void(const std::string&)>;

std::string name_of(const Case& cell) {
  const int devices = cell.execution.devices;
  return fmt::format("{} {} batch {}{}", cell.model, name_of(cell.mode), cell.batch,
                     devices > 1 ? fmt::format(" on {} devices", devices) : "");
}

// As many threads as there are cores for: more do not make the machine faster.
std::set<DevicesAtWork> peaks_of(const Case& cell) {
  const Execution& execution = cell.execution;
  if (!find_engine(execution.engine).computes()) return {};
  if (execution.device != kCpu)
    return {GpusAtWork{execution.devices, execution.engine, execution.device, execution.precision}};
  return {DeviceThreads{execution.devices, std::min(execution.threads, usable_cores())}};
}

std::optional<DeviceSpeed> peak_of(const Case& cell, const ItemContext& context) {
  const std::set<DevicesAtWork> needed = peaks_of(cell);
  return needed.empty() ? std::nullopt : std::optional(context.peaks.at(*needed.begin()));
}

RunControl control_of(const ItemContext& context, const std::string& where) {
  return {.kernel_cache = context.kernel_cache,
          .progress =
              [&context, where](int pass, int passes) {
                context.progress(fmt::format("{}: pass {}/{}", where, pass + 1, passes),
                                 static_cast<double>(pass) / passes);
              },
          .should_stop = context.should_stop,
          .world = &context.world};
}

// Before hours of measuring: the file must be there and fit.
void check_weights_file(const Case& cell, const Note& note) {
  const Model& model = find_model(cell.model);
  const Graph graph = build_model(model, {.batch = 1, .image = cell.image, .classes = cell.classes});
  const std::string ignored = read_model_weights(*cell.weights, model, graph).note;
  if (!ignored.empty()) note(ignored);
}

// Each network's weights are read once, however many cells it has.
void check_weights_files(const std::vector<Case>& cells, const Note& note) {
  std::set<std::string> models_seen;
  for (const Case& cell : cells) {
    if (cell.weights && models_seen.insert(cell.model).second) check_weights_file(cell, note);
  }
}

// An engine that computes nothing has no turns to take.
bool can_be_compared(const Case& a, const Case& b) {
  return same_work(a, b) && find_engine(a.execution.engine).computes() &&
         find_engine(b.execution.engine).computes();
}

class BenchItem final : public WorkItem {
 public:
  BenchItem(Case cell, bool first_of_model, bool alone)
      : cell_(std::move(cell)), first_of_model_(first_of_model), alone_(alone) {}

  void check(const Note& note) override {
    CheckedCase checked = check_case(cell_);
    work_ = checked.work;
    if (alone_) workload_ = std::move(checked.workload);
    if (cell_.weights && first_of_model_) check_weights_file(cell_, note);
  }

  double work() const override { return work_; }
  std::vector<Execution> executions() const override { return {cell_.execution}; }
  std::set<DevicesAtWork> peaks_needed() const override { return peaks_of(cell_); }
  std::optional<Record> description() const override { return describe_case(cell_); }

  void run(const ItemContext& context, const std::function<void(Record)>& finish) override {
    const Measurement measurement =
        run_case(cell_, control_of(context, name_of(cell_)), std::move(workload_));
    if (measurement.status == Status::interrupted || !context.world.is_first()) return;
    finish(make_record(cell_, measurement, context.system, peak_of(cell_, context)));
  }

 private:
  Case cell_;
  bool first_of_model_, alone_;
  std::optional<Workload> workload_;  // not of many cells: waiting, they would count as another one's memory
  double work_ = 0;
};

class TurnsItem final : public WorkItem {
 public:
  explicit TurnsItem(std::vector<Case> cells) : cells_(std::move(cells)) {}

  void check(const Note& note) override {
    for (const Case& cell : cells_) work_ += check_case(cell).work;
    check_weights_files(cells_, note);
  }

  double work() const override { return work_; }
  std::vector<Execution> executions() const override {
    std::vector<Execution> all;
    for (const Case& cell : cells_) all.push_back(cell.execution);
    return all;
  }
  std::set<DevicesAtWork> peaks_needed() const override {
    std::set<DevicesAtWork> needed;
    for (const Case& cell : cells_) needed.merge(peaks_of(cell));
    return needed;
  }

  void run(const ItemContext& context, const std::function<void(Record)>& finish) override {
    const std::string where = same_work(cells_.front(), cells_.back())
                                  ? fmt::format("{} in {} ways", name_of(cells_.front()), cells_.size())
                                  : fmt::format("{} cells in turns", cells_.size());
    const std::vector<Measurement> measurements = run_interleaved(cells_, control_of(context, where));
    if (!context.world.is_first()) return;
    const std::string mark = unique_id();
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (measurements[i].status == Status::interrupted) return;
      Record record = make_record(cells_[i], measurements[i], context.system, peak_of(cells_[i], context));
      record.interleaved = mark;
      finish(std::move(record));
    }
  }

 private:
  std::vector<Case> cells_;
  double work_ = 0;
};

class ProfileItem final : public WorkItem {
 public:
  ProfileItem(Case cell, std::optional<int> threads_simulated, std::optional<Profile>& profile)
      : cell_(std::move(cell)), threads_simulated_(threads_simulated), profile_(profile) {}

  void check(const Note& note) override {
    checked_ = check_case(cell_);
    check_profile(cell_);
    check_weights_files({cell_}, note);
  }

  double work() const override { return checked_.work; }
  std::vector<Execution> executions() const override { return {cell_.execution}; }
  std::set<DevicesAtWork> peaks_needed() const override { return peaks_of(cell_); }

  void run(const ItemContext& context, const std::function<void(Record)>& finish) override {
    if (!context.world.is_first()) return;  // one device alone is looked at
    auto measured =
        profile_case(cell_, checked_.workload, control_of(context, name_of(cell_)), threads_simulated_);
    if (!measured) return;
    const auto known = peak_of(cell_, context);
    const auto* const of_cpu = known ? std::get_if<MachineSpeed>(&*known) : nullptr;
    const MachineSpeed peak = of_cpu != nullptr ? *of_cpu : MachineSpeed{};
    profile_ = {make_record(cell_, measured->pass, context.system, peak), peak, std::move(measured->layers),
                std::move(measured->simulation)};
    finish(profile_->pass);
  }

 private:
  Case cell_;
  std::optional<int> threads_simulated_;
  std::optional<Profile>& profile_;
  CheckedCase checked_;
};

}  // namespace

WorkItems bench_items(std::vector<Case> cells) {
  WorkItems items;
  std::set<std::string> models_seen;
  const bool alone = cells.size() == 1;
  for (Case& cell : cells) {
    const bool first = models_seen.insert(cell.model).second;
    items.push_back(std::make_unique<BenchItem>(std::move(cell), first, alone));
  }
  return items;
}

WorkItems turns_item(std::vector<Case> cells) {
  WorkItems items;
  items.push_back(std::make_unique<TurnsItem>(std::move(cells)));
  return items;
}

bool compare_means(std::span<const Case> cells) {
  std::set<std::array<std::string, 3>> means;
  for (const Case& cell : cells) {
    const Execution& execution = cell.execution;
    if (find_engine(execution.engine).computes())
      means.insert({execution.engine, execution.device, execution.precision});
  }
  return means.size() > 1;
}

WorkItems items_in_turns(std::vector<Case> cells) {
  std::vector<std::vector<Case>> groups;
  for (Case& cell : cells) {
    const auto group = std::ranges::find_if(
        groups, [&](const std::vector<Case>& others) { return can_be_compared(others.front(), cell); });
    if (group == groups.end()) {
      groups.push_back({std::move(cell)});
    } else {
      group->push_back(std::move(cell));
    }
  }
  WorkItems items;
  for (std::vector<Case>& group : groups) {
    if (group.size() > 1) {
      items.push_back(std::make_unique<TurnsItem>(std::move(group)));
    } else {
      items.push_back(std::make_unique<BenchItem>(std::move(group.front()), true, false));
    }
  }
  return items;
}

WorkItems profile_item(const Case& cell, std::optional<int> threads_simulated,
                       std::optional<Profile>& profile) {
  WorkItems items;
  items.push_back(std::make_unique<ProfileItem>(cell, threads_simulated, profile));
  return items;
}

}  // namespace tacho
