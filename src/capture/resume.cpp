#include "capture/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "base/error.h"
#include "results/fields.h"

namespace tacho {
namespace {

bool is_from(const Record& record, const RunOrigin& origin) {
  return record.suite == origin.suite && record.system.machine_id == origin.machine_id &&
         record.system.name == origin.system_name;
}

std::string last_run(std::span<const Record> records, const RunOrigin& origin) {
  for (const Record& record : records | std::views::reverse) {
    const bool can_go_on =
        !record.run.empty() && record.interleaved.empty() && record.judgement.verdict != Verdict::simulated;
    if (can_go_on && is_from(record, origin)) return record.run;
  }
  throw UserError("--continue: no earlier run of {} as '{}' is kept here; leave it out to begin one",
                  origin.suite.empty() ? "'tacho bench'" : fmt::format("suite '{}'", origin.suite),
                  origin.system_name);
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

bool is_record_of(const Record& record, const Record& wanted) {
  Record placed = wanted;
  placed.nodes = record.nodes;  // a call does not say how many machines its devices are on
  return agree(record, placed, {FieldRole::subject, FieldRole::work, FieldRole::means, FieldRole::protocol});
}

std::vector<Record> find_run(std::span<const Record> records, std::string_view id_prefix,
                             const RunOrigin& origin) {
  const std::string name = id_prefix.empty() ? last_run(records, origin) : run_named(records, id_prefix);
  std::vector<Record> run;
  std::ranges::copy_if(records, std::back_inserter(run), [&](const Record& r) { return r.run == name; });
  if (!is_from(run.front(), origin)) {
    throw UserError("--continue {}: that run was made on system '{}' by `{}`", id_prefix,
                    run.front().system.name, run.front().command);
  }
  if (!run.front().interleaved.empty()) {
    throw UserError("--continue {}: its cells took turns, which nothing can be added to", id_prefix);
  }
  return run;
}

std::vector<std::optional<Record>> match_records(std::span<const Record> run,
                                                 std::span<const Record> wanted) {
  std::vector<std::optional<Record>> matched;
  bool any = false;
  for (const Record& one : wanted) {
    std::optional<Record> done;
    for (const Record& record : run) {
      if (!is_record_of(record, one)) continue;
      any = true;
      if (record.judgement.verdict != Verdict::failed) done = record;
    }
    matched.push_back(std::move(done));
  }
  if (!any) {
    throw UserError("--continue: run {} has none of these cells; it was made by `{}`", run.front().run,
                    run.front().command);
  }
  return matched;
}

}  // namespace tacho
