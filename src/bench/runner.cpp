#include "bench/runner.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench/agreement.h"
#include "bench/device_energy.h"
#include "bench/prepared_case.h"
#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "distributed/shared_state.h"
#include "distributed/together.h"
#include "engine/engines.h"
#include "engine/saturating.h"
#include "graph/cost.h"

namespace tacho {
namespace {

Measurement without_samples(Status status, std::string reason) {
  return {.status = status, .reason = std::move(reason)};
}

const Measurement kInterrupted = without_samples(Status::interrupted, "interrupted");

// What `step` throws, as a measurement; nothing where it throws nothing.
template<typename Step>
std::optional<Measurement> failure_of(const Step& step) {
  try {
    step();
    return std::nullopt;
  } catch (const OutOfMemory& error) {
    return without_samples(Status::out_of_memory, error.what());
  } catch (const std::bad_alloc&) {
    return without_samples(Status::out_of_memory, "the system refused memory");
  } catch (const std::exception& error) {
    return without_samples(Status::failed, error.what());
  }
}

// The part of one cell that this process has: its plan, or a measurement that says why not.
class CellPart {
 public:
  // All ranks at once, also those that have no part. The kernels of a cell that runs `alone` are chosen ahead
  // of its plan, whose memory is measured.
  CellPart(const Case& whole, World* world, std::optional<Workload> workload,
           const std::filesystem::path& kernel_cache, bool alone)
      : world_(world),
        alone_(alone),
        ranks_(world != nullptr ? world->all().first(whole.execution.devices) : tacho::alone()),
        workload_(std::move(workload)) {
    if (!ranks_) return;
    cell_ = part_of(whole, ranks_->rank());
    if (world_ != nullptr && !works([&] { take_device(whole.execution); })) return;
    if (!works([&] { require_room(); })) return;
    if (!works([&] { choose_kernels(kernel_cache); })) return;
    // Not a step that may fail on one device alone: GPUs that join would wait for it.
    group_ = cell_.mode == Mode::train ? training_group(*ranks_, cell_.execution, cell_.execution.device)
                                       : single_group();
    if (!works([&] { kernel_cache_.emplace(*ranks_, kernel_cache); })) return;
    Weights weights;
    if (!works([&] { weights = ranks_->rank() == 0 ? first_weights(cell_, workload_->graph) : Weights(); }))
      return;
    broadcast_weights(*ranks_, workload_->graph, weights);
    if (!agrees_with_single_precision(weights)) return;
    if (alone) reset_peak_memory();
    if (!works([&] {
          prepared_.emplace(cell_, *workload_, std::move(weights), kernel_cache_->path(), !alone, *ranks_,
                            *group_);
        }))
      return;
    // Only gradients have to lie alike.
    if (workload_->graph.training) works([&] { require_equal_plans(*ranks_, prepared_->plan()); });
    times_.reserve(static_cast<size_t>(cell_.repeat));
  }

  bool is_measured() const { return ranks_ != nullptr && !failure_; }
  bool computes() const { return is_measured() && find_engine(cell_.execution.engine).computes(); }

  // Of one pass before any update; nothing where it fails, and the cell with it.
  std::optional<PassOutcome> outcome() {
    sit_down();
    return outcome_of(*prepared_);
  }
  // The cell fails where it disagrees.
  void hold_against(const PassOutcome& truth, const AgreementBounds& least) {
    const std::optional<PassOutcome> own = outcome();
    if (own) works([&] { require_agreement(truth, *own, looser(bounds(), least)); });
  }
  AgreementBounds bounds() const { return agreement_bounds(cell_.execution.precision); }
  // Its threads and cores.
  void sit_down() const {
    const Execution& execution = cell_.execution;
    world_ != nullptr ? take_seat(*world_, execution.devices, execution.threads)
                      : use_threads(execution.threads);
  }

  void run_pass(int pass) {
    if (!is_measured() || pass >= cell_.warmup + cell_.repeat) return;
    if (!alone_) sit_down();
    barrier(*ranks_);
    const auto run = [&] {
      const PassTimes times = prepared_->run_pass();
      if (pass >= cell_.warmup) times_.push_back(times);
    };
    // Others would wait for the rest of the pass: there is no way back into step.
    if (ranks_->size() > 1) return run();
    failure_ = failure_of(run);
  }

  // Empty on ranks that have no part.
  Measurement finish() {
    if (!ranks_) return {};
    if (!failure_) works([&] { prepared_->require_finite(); });
    if (!failure_ && cell_.mode == Mode::train)
      works([&] { require_equal_parameters(*ranks_, prepared_->plan(), workload_->graph); });
    if (failure_) return std::move(*failure_);
    Measurement result = prepared_->measurement();
    result.passes = gather_passes(*ranks_, times_, world_ != nullptr ? world_->clock_offset_ms(*ranks_) : 0);
    result.peak_memory_bytes = prepared_->plan().peak_device_bytes().value_or(peak_memory_bytes());
    result.gpu = find_engine(cell_.execution.engine).bus_id(device_of(cell_.execution, 0));
    result.buckets = prepared_->ready_gradients();
    if (world_ != nullptr) {
      const int devices = cell_.execution.devices;
      result.hosts.assign(world_->hosts().begin(), world_->hosts().begin() + devices);
      result.has_cores = world_->has_cores_for(devices, cell_.execution.threads);
    }
    return result;
  }

 private:
  // Whether it worked: a cell that fails on one device fails.
  template<typename Step>
  bool works(const Step& step) {
    failure_ = failure_of([&] { together(*ranks_, step); });
    return !failure_;
  }

  void require_room() {
    if (!workload_ || ranks_->size() > 1) workload_ = build_workload(cell_);
    const int64_t beside = world_ != nullptr ? world_->seat(cell_.execution.devices).count : 1;
    require_memory(saturating_multiply(beside, memory_need_bytes(cell_, *workload_, !alone_)));
  }

  // Where one of several devices fails in a pass, the others wait for it: see run_pass().
  std::optional<PassOutcome> outcome_of(PreparedCase& prepared) {
    std::optional<PassOutcome> outcome;
    const auto run = [&] {
      outcome = first_pass(prepared.plan(), workload_->graph, [&](bool own) { return any(*ranks_, own); });
    };
    if (ranks_->size() > 1) {
      run();
    } else {
      failure_ = failure_of(run);
    }
    return outcome;
  }
  std::optional<PassOutcome> outcome_of(const Case& cell, const Weights& weights) {
    std::optional<PreparedCase> prepared;
    const auto prepare = [&] {
      prepared.emplace(cell, *workload_, clone(weights), kernel_cache_->path(), true, *ranks_, *group_);
    };
    return works(prepare) ? outcome_of(*prepared) : std::nullopt;
  }

  // By plans of their own, which do not count as the cell's memory.
  bool agrees_with_single_precision(const Weights& weights) {
    if (cell_.execution.precision == kSinglePrecision) return true;
    Case exact = cell_;
    exact.execution.precision = kSinglePrecision;
    const std::optional<PassOutcome> truth = outcome_of(exact, weights);
    const std::optional<PassOutcome> own = truth ? outcome_of(cell_, weights) : std::nullopt;
    return own && works([&] { require_agreement(*truth, *own, bounds()); });
  }

  void take_device(const Execution& whole) {
    cell_.execution.device = device_of(whole, world_->seat(whole.devices).index);
  }

  // By rank 0 for all that exchange gradients: devices of one cell use the same ones.
  void choose_kernels(const std::filesystem::path& kernel_cache) const {
    sit_down();
    const bool for_others = ranks_->size() > 1 && ranks_->rank() == 0;
    if (!for_others && !(alone_ && ranks_->size() == 1)) return;
    find_engine(cell_.execution.engine)
        .choose_kernels(workload_->graph,
                        compile_options(cell_.execution, cell_.seed, workload_->update, kernel_cache));
  }

  World* world_;
  bool alone_;
  std::unique_ptr<Communicator> ranks_;  // nothing where this process has no part
  Case cell_;
  std::optional<Workload> workload_;
  std::optional<SharedFile> kernel_cache_;
  std::unique_ptr<Group> group_;
  std::optional<PreparedCase> prepared_;
  std::vector<PassTimes> times_;
  std::optional<Measurement> failure_;
};

// What one rank is told, all do: so they stay in step.
bool should_stop(const RunControl& control) {
  const bool own = control.should_stop && control.should_stop();
  return control.world == nullptr ? own : any(control.world->all(), own);
}

// Cells that do the same work on other engines or in other precisions: all must agree with the first of them
// that computes, in single precision where there is one.
void require_equal_results(std::span<const Case> cells, std::span<const std::unique_ptr<CellPart>> parts) {
  std::vector<size_t> left;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (parts[i]->computes()) left.push_back(i);
  }
  std::ranges::stable_partition(left,
                                [&](size_t i) { return cells[i].execution.precision == kSinglePrecision; });
  while (!left.empty()) {
    const size_t first = left.front();
    const auto others = std::ranges::stable_partition(
        left, [&](size_t i) { return i == first || !same_work(cells[i], cells[first]); });
    const auto truth = others.empty() ? std::nullopt : parts[first]->outcome();
    for (const size_t other : others) {
      if (truth) parts[other]->hold_against(*truth, parts[first]->bounds());
    }
    left.erase(others.begin(), left.end());
    left.erase(left.begin());
  }
}

// Of several GPUs rank 0 would count its own only.
bool can_tell_energy(const Execution& execution) {
  return execution.device == kCpu || execution.devices == 1;
}

// Rank 0 sees no other machine's energy.
bool is_on_one_machine(const Measurement& measurement) {
  const std::vector<std::string>& hosts = measurement.hosts;
  return std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts.front(); });
}

std::vector<Measurement> run_turns(std::span<const Case> cells, const RunControl& control, bool alone,
                                   std::optional<Workload> first = {}) {
  std::vector<std::unique_ptr<CellPart>> parts;
  int passes = 0;
  for (const Case& cell : cells) {
    parts.push_back(std::make_unique<CellPart>(cell, control.world, std::exchange(first, std::nullopt),
                                               control.kernel_cache, alone));
    passes = std::max(passes, cell.warmup + cell.repeat);
  }
  require_equal_results(cells, parts);
  std::optional<DeviceEnergy> energy;
  for (int pass = 0; pass < passes; ++pass) {
    for (const auto& part : parts) {
      if (should_stop(control)) return std::vector(cells.size(), kInterrupted);
      if (control.progress) control.progress(pass, passes);
      if (alone && pass == cells[0].warmup && part->is_measured() && can_tell_energy(cells[0].execution))
        energy.emplace(find_engine(cells[0].execution.engine), device_of(cells[0].execution, 0));
      part->run_pass(pass);
    }
  }
  const std::optional<double> joules = energy ? energy->joules() : std::nullopt;
  std::vector<Measurement> results;
  for (const auto& part : parts) results.push_back(part->finish());
  if (is_on_one_machine(results.front())) results.front().joules = joules;
  return results;
}

}  // namespace

CheckedCase check_case(const Case& cell) {
  const bool training = cell.mode == Mode::train;
  check_execution(cell.execution, training);
  CheckedCase checked = {build_workload(part_of(cell, 0))};
  if (memory_need_bytes(cell, checked.workload) <= total_memory_bytes()) {
    const auto flop = static_cast<double>(cost_of(checked.workload.graph).flop);
    checked.work = flop * (cell.warmup + cell.repeat);
  }
  return checked;
}

Measurement run_case(const Case& cell, const RunControl& control, std::optional<Workload> workload) {
  return std::move(run_turns({&cell, 1}, control, true, std::move(workload)).front());
}

std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunControl& control) {
  std::vector<Measurement> results = run_turns(cells, control, false);
  for (Measurement& result : results) result.peak_memory_bytes = 0;
  return results;
}

}  // namespace tacho
