#include "results/selection.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/error.h"
#include "base/json_values.h"
#include "base/text.h"
#include "results/fields.h"
#include "results/references.h"

namespace tacho {
namespace {

constexpr size_t kLeastRunPrefix = 4;
constexpr std::string_view kThis = "this";

// What was measured by whom: what differs in the others is the same measurement, repeated.
bool belongs_to_case(const Field& field) {
  return field.role == FieldRole::subject || field.role == FieldRole::work || field.role == FieldRole::means;
}

bool is_simulated(const Record& record) { return record.judgement.verdict == Verdict::simulated; }

// What was simulated is never the same as what was measured, nor as what was simulated from something else.
std::string case_of(const Record& record) {
  Json values = {record.reference, record.system.name, record.system.machine_id,
                 is_simulated(record) ? "simulated " + record.judgement.reason : ""};
  for (const Field& field : fields()) {
    if (belongs_to_case(field)) values.push_back(field.access.get(record));
  }
  return to_text(values);
}

bool contains_part(std::string_view text, std::string_view part) {
  return part.empty() || !std::ranges::search(text, part, same_letter).empty();
}

template<typename Predicate>
std::vector<Record> those(std::span<const Record> records, const Predicate& wanted) {
  std::vector<Record> found;
  std::ranges::copy_if(records, std::back_inserter(found), wanted);
  return found;
}

std::vector<Record> of_reference(std::string_view word) {
  const size_t slash = std::min(word.find('/'), word.size());
  const std::string_view name = word.substr(0, slash), part = word.substr(std::min(slash + 1, word.size()));
  for (const ReferenceSet& set : reference_sets()) {
    if (set.name != name) continue;
    return those(set.records, [&](const Record& r) { return contains_part(r.system.name, part); });
  }
  return {};
}

struct Meaning {
  std::string_view prefix;
  std::vector<Record> (*find)(std::string_view word, std::span<const Record> stored);
};

constexpr Meaning kMeanings[] = {
    {"reference:", [](std::string_view word, std::span<const Record>) { return of_reference(word); }},
    {"run:",
     [](std::string_view word, std::span<const Record> stored) {
       if (word.size() < kLeastRunPrefix) return std::vector<Record>{};
       const auto found = those(stored, [&](const Record& r) { return r.run.starts_with(word); });
       if (std::ranges::any_of(found, [&](const Record& r) { return r.run != found[0].run; })) {
         throw UserError("'{}': several runs have ids that begin so; give more of it", word);
       }
       return found;
     }},
    {"system:",
     [](std::string_view word, std::span<const Record> stored) {
       return those(stored, [&](const Record& r) { return r.system.name == word && r.engine != "null"; });
     }},
    {"engine:",
     [](std::string_view word, std::span<const Record> stored) {
       return those(stored, [&](const Record& r) { return r.engine == word; });
     }},
};

std::string list_of_references() {
  std::string names;
  for (const ReferenceSet& set : reference_sets()) names += (names.empty() ? "" : ", ") + set.name;
  return names;
}

std::vector<Record> find_records(std::string_view word, std::span<const Record> stored,
                                 std::string_view machine) {
  if (word == kThis) {
    const auto here =
        those(stored, [&](const Record& r) { return r.system.machine_id == machine && r.engine != "null"; });
    if (here.empty())
      throw UserError("this: nothing was measured on this machine yet; `tacho suite quick` does");
    return here;
  }
  for (const Meaning& meaning : kMeanings) {
    const bool asked = word.starts_with(meaning.prefix);
    const auto found = meaning.find(asked ? word.substr(meaning.prefix.size()) : word, stored);
    if (!found.empty() || asked) return found;
  }
  return {};
}

struct FieldFilter {
  const Field* field;
  std::string value;

  bool matches(const Record& record) const {
    const Json json = field->access.get(record);
    return (json.is_string() ? json.get<std::string>() : to_text(json)) == value;
  }
};

FieldFilter parse_filter(std::string_view word, std::string_view text) {
  const size_t equals = text.find('=');
  const Field* field = find_field(text.substr(0, equals));
  if (field == nullptr || !field->access.plain) {
    throw UserError("'{}': '{}' is no field of a record", word, text.substr(0, equals));
  }
  return {field, std::string(text.substr(equals + 1))};
}

// "this/threads=1/batch=2" -> "this" and two filters. A part without '=' belongs to the name.
std::pair<std::string, std::vector<FieldFilter>> split_filters(std::string_view word) {
  std::string base;
  std::vector<FieldFilter> filters;
  for (const std::string& part : split(word, '/')) {
    if (part.find('=') != std::string::npos) {
      filters.push_back(parse_filter(word, part));
    } else {
      base += (base.empty() ? "" : "/") + part;
    }
  }
  return {base, std::move(filters)};
}

}  // namespace

std::vector<size_t> case_numbers(std::span<const Record> records) {
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> numbers;
  for (const Record& record : records) {
    numbers.push_back(known.try_emplace(case_of(record), known.size()).first->second);
  }
  return numbers;
}

std::vector<bool> latest_of_each_case(std::span<const size_t> numbers) {
  std::unordered_map<size_t, size_t> last;
  for (size_t i = 0; i < numbers.size(); ++i) last[numbers[i]] = i;
  std::vector<bool> latest;
  for (size_t i = 0; i < numbers.size(); ++i) latest.push_back(last[numbers[i]] == i);
  return latest;
}

std::vector<size_t> latest_with_figures(std::span<const Record> records) {
  std::vector<size_t> usable, numbers, latest;
  const std::vector<size_t> cases = case_numbers(records);
  const bool all_simulated = std::ranges::all_of(records, is_simulated);
  for (size_t i = 0; i < records.size(); ++i) {
    if (!has_figures(records[i].judgement) || (is_simulated(records[i]) && !all_simulated)) continue;
    usable.push_back(i);
    numbers.push_back(cases[i]);
  }
  const std::vector<bool> is_latest = latest_of_each_case(numbers);
  for (size_t i = 0; i < usable.size(); ++i) {
    if (is_latest[i]) latest.push_back(usable[i]);
  }
  return latest;
}

Selection selection_of(std::string name, std::span<const Record> records) {
  Selection selection = {std::move(name), {}};
  for (const size_t place : latest_with_figures(records)) selection.records.push_back(records[place]);
  return selection;
}

Selection select_records(std::string_view word, std::span<const Record> stored,
                         std::string_view this_machine) {
  const auto [base, filters] = split_filters(word);
  std::vector<Record> found = find_records(base, stored, this_machine);
  for (const FieldFilter& filter : filters) {
    std::erase_if(found, [&](const Record& record) { return !filter.matches(record); });
    if (found.empty()) throw UserError("'{}': no record has {} {}", word, filter.field->name, filter.value);
  }
  if (found.empty()) {
    throw UserError("'{}' is no run, system or engine of the kept results, and none of the references {}",
                    word, list_of_references());
  }
  Selection selection = selection_of(std::string(word), found);
  if (selection.records.empty()) {
    throw UserError("'{}': none of its cells has figures; all of them failed", word);
  }
  return selection;
}

}  // namespace tacho
