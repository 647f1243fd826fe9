#include "bench/runner.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench/prepared_case.h"
#include "engine/engines.h"
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

bool should_stop(const RunControl& control) { return control.should_stop && control.should_stop(); }

// Cells that take turns: each has its plan, or a measurement that says why not.
class Turns {
 public:
  // The kernels of a cell that runs `alone` are chosen ahead of its plan, whose memory is measured.
  Turns(std::span<const Case> cells, const RunControl& control, bool alone, std::optional<Workload> first)
      : cells_(cells),
        workloads_(cells.size()),
        prepared_(cells.size()),
        results_(cells.size()),
        failures_(cells.size()) {
    if (first) workloads_.front() = std::move(first);
    for (size_t i = 0; i < cells.size(); ++i) {
      failures_[i] = failure_of([&] { prepare(i, control.kernel_cache, alone); });
    }
  }

  void run_pass(size_t i, int pass) {
    if (failures_[i] || pass >= cells_[i].warmup + cells_[i].repeat) return;
    if (cells_.size() > 1) use_threads(cells_[i].execution.threads);  // the cell before may have others
    failures_[i] = failure_of([&] {
      const PassTimes times = prepared_[i]->run_pass();
      if (pass >= cells_[i].warmup) add_sample(times, cells_[i], results_[i]);
    });
  }

  Measurement finish(size_t i) {
    if (!failures_[i]) failures_[i] = failure_of([&] { prepared_[i]->require_finite(); });
    return std::move(failures_[i] ? *failures_[i] : results_[i]);
  }

 private:
  void prepare(size_t i, const std::filesystem::path& kernel_cache, bool alone) {
    const Case& cell = cells_[i];
    if (!workloads_[i]) workloads_[i] = build_workload(cell);
    const Workload& workload = *workloads_[i];
    require_memory(memory_need_bytes(cell, workload));
    if (alone) {
      find_engine(cell.execution.engine)
          .choose_kernels(workload.graph,
                          compile_options(cell.execution, cell.seed, workload.update, kernel_cache));
      reset_peak_memory();
    }
    prepared_[i].emplace(cell, workload, kernel_cache);
    results_[i] = prepared_[i]->measurement();
  }

  std::span<const Case> cells_;
  std::vector<std::optional<Workload>> workloads_;
  std::vector<std::optional<PreparedCase>> prepared_;
  std::vector<Measurement> results_;
  std::vector<std::optional<Measurement>> failures_;
};

std::vector<Measurement> run_turns(std::span<const Case> cells, const RunControl& control, bool alone,
                                   std::optional<Workload> first = {}) {
  Turns turns(cells, control, alone, std::move(first));
  int passes = 0;
  for (const Case& cell : cells) passes = std::max(passes, cell.warmup + cell.repeat);
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (should_stop(control)) return std::vector(cells.size(), kInterrupted);
      if (control.progress) control.progress(pass, passes);
      turns.run_pass(i, pass);
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < cells.size(); ++i) results.push_back(turns.finish(i));
  return results;
}

}  // namespace

CheckedCase check_case(const Case& cell) {
  check_execution(cell.execution, cell.mode == Mode::train);
  CheckedCase checked = {build_workload(cell)};
  if (memory_need_bytes(cell, checked.workload) <= total_memory_bytes()) {
    const auto flop = static_cast<double>(cost_of(checked.workload.graph).flop);
    checked.work = flop * (cell.warmup + cell.repeat);
  }
  return checked;
}

Measurement run_case(const Case& cell, const RunControl& control, std::optional<Workload> workload) {
  Measurement result = std::move(run_turns({&cell, 1}, control, true, std::move(workload)).front());
  if (result.status == Status::measured) result.peak_memory_bytes = peak_memory_bytes();
  return result;
}

std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunControl& control) {
  return run_turns(cells, control, false);
}

}  // namespace tacho
