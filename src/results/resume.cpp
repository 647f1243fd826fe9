#include "results/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>

#include "base/error.h"
#include "results/bench_record.h"

namespace tacho {
namespace {

// Everything that describe_case() takes from a cell.
auto case_of(const Record& r) {
  return std::tie(r.model, r.mode, r.engine, r.precision, r.batch, r.devices, r.threads, r.image, r.classes,
                  r.warmup, r.repeat, r.seed, r.weights);
}

bool belongs_to_last(const Record& record, std::string_view suite, std::string_view machine_id) {
  return !record.run.empty() && record.suite == suite && record.system.machine_id == machine_id;
}

std::string last_run(std::span<const Record> records, std::string_view suite, std::string_view machine_id) {
  for (const Record& record : records | std::views::reverse) {
    if (belongs_to_last(record, suite, machine_id)) return record.run;
  }
  throw UserError("--continue: no earlier run of {} is kept here; leave it out to begin one",
                  suite.empty() ? "'tacho bench'" : fmt::format("suite '{}'", suite));
}

std::string run_named(std::span<const Record> records, std::string_view prefix) {
  std::set<std::string> names;
  for (const Record& record : records) {
    if (!record.run.empty() && record.run.starts_with(prefix)) names.insert(record.run);
  }
  if (names.empty()) throw UserError("--continue {}: no run has this id", prefix);
  if (names.size() > 1)
    throw UserError("--continue {}: {} runs have ids that begin so", prefix, names.size());
  return *names.begin();
}

}  // namespace

bool is_record_of(const Record& record, const Case& cell) {
  return case_of(record) == case_of(describe_case(cell));
}

std::vector<Record> find_run(std::span<const Record> records, std::string_view id_prefix,
                             std::string_view suite, std::string_view machine_id) {
  const std::string name =
      id_prefix.empty() ? last_run(records, suite, machine_id) : run_named(records, id_prefix);
  std::vector<Record> run;
  std::ranges::copy_if(records, std::back_inserter(run), [&](const Record& r) { return r.run == name; });
  return run;
}

std::vector<std::optional<Record>> match_cells(std::span<const Record> run, std::span<const Case> cells) {
  std::vector<std::optional<Record>> matched;
  bool any = false;
  for (const Case& cell : cells) {
    const auto found = std::ranges::find_if(run, [&](const Record& r) { return is_record_of(r, cell); });
    any = any || found != run.end();
    const bool done = found != run.end() && found->judgement.verdict != Verdict::failed;
    matched.push_back(done ? std::optional(*found) : std::nullopt);
  }
  if (!any) {
    throw UserError("--continue: run {} has none of these cells; it was made by `{}`", run.front().run,
                    run.front().command);
  }
  return matched;
}

}  // namespace tacho
