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

namespace tacho {
namespace {

// Ahead of the case itself, whose memory is measured.
void choose_kernels(const Case& cell) {
  const Workload workload = build_workload(cell);
  const Engine& engine = find_engine(cell.engine);
  require_memory(memory_need_bytes(cell, workload, engine));
  engine.choose_kernels(workload.graph, compile_options(cell, workload));
}

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

bool should_stop(const RunHooks& hooks) { return hooks.should_stop && hooks.should_stop(); }

// Cells that take turns: each has its plan, or a measurement that says why not.
class Turns {
 public:
  explicit Turns(std::span<const Case> cells)
      : cells_(cells), prepared_(cells.size()), results_(cells.size()), failures_(cells.size()) {
    for (size_t i = 0; i < cells.size(); ++i) failures_[i] = failure_of([&] { prepare(i); });
  }

  void run_pass(size_t i, int pass) {
    if (failures_[i] || pass >= cells_[i].warmup + cells_[i].repeat) return;
    use_threads(cells_[i].threads);
    failures_[i] = failure_of([&] {
      const PassTimes times = prepared_[i]->run_pass();
      if (pass >= cells_[i].warmup) add_sample(cells_[i], times, results_[i]);
    });
  }

  Measurement finish(size_t i) {
    if (!failures_[i]) failures_[i] = failure_of([&] { prepared_[i]->require_finite(); });
    return std::move(failures_[i] ? *failures_[i] : results_[i]);
  }

 private:
  void prepare(size_t i) {
    prepared_[i].emplace(cells_[i]);
    results_[i] = prepared_[i]->measurement();
  }

  std::span<const Case> cells_;
  std::vector<std::optional<PreparedCase>> prepared_;
  std::vector<Measurement> results_;
  std::vector<std::optional<Measurement>> failures_;
};

}  // namespace

Measurement run_case(const Case& cell, const RunHooks& hooks) {
  if (auto failure = failure_of([&] { choose_kernels(cell); })) return std::move(*failure);
  reset_peak_memory();
  Measurement result = std::move(run_interleaved({&cell, 1}, hooks).front());
  if (result.status == Status::measured) result.peak_memory_bytes = peak_memory_bytes();
  return result;
}

std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunHooks& hooks) {
  Turns turns(cells);
  int passes = 0;
  for (const Case& cell : cells) passes = std::max(passes, cell.warmup + cell.repeat);
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (should_stop(hooks)) return std::vector(cells.size(), kInterrupted);
      if (hooks.progress) hooks.progress(pass, passes);
      turns.run_pass(i, pass);
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < cells.size(); ++i) results.push_back(turns.finish(i));
  return results;
}

}  // namespace tacho
