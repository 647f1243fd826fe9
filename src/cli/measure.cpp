#include "cli/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/cpu.h"
#include "base/error.h"
#include "bench/machine.h"
#include "bench/runner.h"
#include "bench/sweep.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "results/bench_record.h"
#include "results/store.h"

namespace tacho {
namespace {

void check_cells(const std::vector<Case>& cells) {
  std::set<std::string> models_seen;
  for (const Case& cell : cells) {
    check_case(cell);
    if (!cell.weights || !models_seen.insert(cell.model).second) continue;
    const int ignored = check_weights_file(cell);
    if (ignored == 0) continue;
    fmt::print(stderr, "tacho: note: {}: ignored {} entries of the auxiliary head (AuxLogits.*)\n",
               cell.weights->string(), ignored);
  }
}

void print_warnings() {
  for (const std::string& warning : noise_warnings()) fmt::print(stderr, "tacho: warning: {}\n", warning);
}

// The peak of as many threads as there are cores for: more do not make the machine faster.
std::optional<double> peak_for(const Case& cell, const Measurement& measurement, PeakCache& peaks) {
  if (measurement.status != Status::measured || measurement.flop == 0) return {};
  return peaks.fma_gflops(std::min(cell.threads, usable_cores()));
}

// A store that fails in the middle must not cost what was measured: it is given up, and said so.
void keep(const Record& record, std::optional<Store>& store) {
  if (!store) return;
  try {
    store->add(record);
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: this and further results are not kept: {}\n", error.what());
    store.reset();
  }
}

// The records of the cells that were finished, each kept before the next one starts.
std::vector<Record> run_cells(const std::vector<Case>& cells, const SystemInfo& system,
                              std::optional<Store>& store) {
  std::vector<Record> records;
  PeakCache peaks;
  Progress progress(cells);
  for (size_t i = 0; i < cells.size() && !interrupted(); ++i) {
    const RunHooks hooks = {.progress = [&](int pass, int passes) { progress.show(i, pass, passes); },
                            .should_stop = interrupted};
    const Measurement measurement = run_case(cells[i], hooks);
    if (measurement.status == Status::interrupted) break;
    records.push_back(make_record(cells[i], measurement, system, peak_for(cells[i], measurement, peaks)));
    keep(records.back(), store);
  }
  return records;
}

bool something_failed(const std::vector<Record>& records) {
  return std::ranges::any_of(records, [](const Record& record) {
    return record.judgement.verdict == Verdict::failed || record.judgement.verdict == Verdict::out_of_memory;
  });
}

}  // namespace

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  add_output_options(command, options.output);
  add_store_options(command, options.store);
  command.add_flag("--no-db", options.without_store, "Do not keep the results");
  command.add_option("--system", options.system,
                     "Name of this machine in the results; default: the host's name");
}

void measure_and_report(const std::vector<Case>& cells, const MeasureOptions& options,
                        CommandContext& context) {
  const Format format = chosen_format(options.output);
  check_output(options.output);
  check_cells(cells);
  print_warnings();
  catch_interrupt();
  std::optional<Store> store;
  if (!options.without_store) store.emplace(store_path(options.store));
  const std::vector<Record> records = run_cells(cells, capture_system(options.system), store);
  if (records.empty()) {
    fmt::print(stderr, "tacho: note: interrupted before the first cell was finished\n");
  } else {
    write_output(options.output, format_records(records, format));
  }
  if (store && !records.empty()) {
    fmt::print(stderr, "tacho: note: kept in {} (`tacho results list`)\n",
               store_path(options.store).string());
  }
  if (something_failed(records)) context.exit_status = 1;
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
