#include "report/page_data.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/json_values.h"
#include "report/pairing.h"
#include "results/fields.h"
#include "results/record_json.h"
#include "results/selection.h"

namespace tacho {
namespace {

// The published system that everybody knows: a machine's first page already shows it beside its own figures.
constexpr std::string_view kShownBeside = "dgx1-v100";

std::string_view name_of(FieldRole role) {
  switch (role) {
    case FieldRole::subject: return "subject";
    case FieldRole::work: return "work";
    case FieldRole::means: return "means";
    case FieldRole::protocol: return "protocol";
    case FieldRole::figure: return "figure";
    case FieldRole::environment: return "environment";
  }
  return "?";
}

std::string_view name_of(Column column) {
  switch (column) {
    case Column::never: return "never";
    case Column::always: return "always";
    case Column::differing: return "differing";
    case Column::present: return "present";
  }
  return "?";
}

Json field_list() {
  Json list = Json::array();
  for (const Field& field : fields()) {
    list.push_back({{"name", field.name},
                    {"header", field.header.empty() ? field.name : field.header},
                    {"role", name_of(field.role)},
                    {"column", name_of(field.column)},
                    {"number", field.number}});
  }
  return list;
}

// Values that occur often, each kept once.
class Dictionary {
 public:
  size_t number_of(const Json& value) {
    const auto [entry, is_new] = numbers_.try_emplace(to_text(value), numbers_.size());
    if (is_new) values_.push_back(value);
    return entry->second;
  }
  Json take() { return std::move(values_); }

 private:
  std::map<std::string, size_t> numbers_;
  Json values_ = Json::array();
};

// A machine, or a published system, with one engine.
struct System {
  std::string set, machine = {}, name, engine;
  Selection selection = {};         // what `tacho compare` compares of it
  std::vector<size_t> places = {};  // where these stand among all records

  auto identity() const { return std::tie(set, machine, name, engine); }
  bool measured() const { return set.empty(); }
};

// Where an older record has no machine_id, its machine's name must do.
std::map<std::string, std::string> machines_by_name(std::span<const Record> records) {
  std::map<std::string, std::string> machines;
  for (const Record& record : records) {
    if (record.reference.empty() && !record.system.machine_id.empty())
      machines[record.system.name] = record.system.machine_id;
  }
  return machines;
}

System owner_of(const Record& record, const std::map<std::string, std::string>& machines) {
  System system = {.set = record.reference, .name = record.system.name, .engine = record.engine};
  if (!record.reference.empty()) return system;
  const auto known = machines.find(record.system.name);
  const std::string& otherwise = known == machines.end() ? record.system.name : known->second;
  system.machine = record.system.machine_id.empty() ? otherwise : record.system.machine_id;
  return system;
}

// The systems of the records, and for each record which of them is its own.
std::pair<std::vector<System>, std::vector<size_t>> systems_of(std::span<const Record> records) {
  const auto machines = machines_by_name(records);
  std::vector<System> systems;
  std::vector<size_t> owners;
  for (const Record& record : records) {
    System owner = owner_of(record, machines);
    const auto known = std::ranges::find(systems, owner.identity(), &System::identity);
    owners.push_back(static_cast<size_t>(known - systems.begin()));
    if (known == systems.end()) systems.push_back(std::move(owner));
  }
  return {std::move(systems), std::move(owners)};
}

void fill_selections(std::span<const Record> records, std::span<const size_t> owners,
                     std::vector<System>& systems) {
  for (const size_t place : latest_with_figures(records)) {
    System& system = systems[owners[place]];
    system.selection.records.push_back(records[place]);
    system.places.push_back(place);
  }
}

Json figures_of(const Record& record) {
  Json figures = Json::array();
  for (const Metric& metric : metrics()) figures.push_back(json_of(metric.of(record)));
  while (!figures.empty() && figures.back().is_null()) figures.erase(figures.size() - 1);
  return figures;
}

Json place_list(std::span<const Record> records, std::span<const size_t> owners) {
  const std::vector<size_t> cases = case_numbers(records);
  const std::vector<bool> latest = latest_of_each_case(cases);
  Json list = Json::array();
  for (size_t i = 0; i < records.size(); ++i) {
    list.push_back({owners[i], cases[i], latest[i] ? 1 : 0, figures_of(records[i])});
  }
  return list;
}

Json outcome_of(const ComparedPair& pair) {
  Json outcome = {{"unit", pair.metric->unit}};
  if (pair.refusals.empty()) outcome["answer"] = name_of(pair.comparison.answer);
  if (!pair.refusals.empty()) outcome["refusals"] = pair.refusals;
  if (!pair.marks.empty()) outcome["marks"] = pair.marks;
  return outcome;
}

Json pair_list(const System& a, const System& b, Dictionary& outcomes) {
  Json list = Json::array();
  for (const ComparedPair& pair : compare_selections(a.selection, b.selection)) {
    Json entry = {a.places[pair.a_at], b.places[pair.b_at], outcomes.number_of(outcome_of(pair))};
    if (pair.refusals.empty()) {
      const auto& interval = pair.comparison.interval;
      entry.push_back(json_of(pair.comparison.ratio));
      entry.push_back(interval ? json_of(interval->low) : Json());
      entry.push_back(interval ? json_of(interval->high) : Json());
    }
    const bool evened_out = pair.a_value != pair.metric->of(a.selection.records[pair.a_at]) ||
                            pair.b_value != pair.metric->of(b.selection.records[pair.b_at]);
    if (evened_out) {
      entry.push_back(pair.a_value);
      entry.push_back(pair.b_value);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// Each two systems in both orders, so that any can be what others are compared with.
Json pairing_list(std::span<const System> systems, Dictionary& outcomes) {
  Json list = Json::array();
  for (size_t a = 0; a < systems.size(); ++a) {
    for (size_t b = 0; b < systems.size(); ++b) {
      if (a == b) continue;
      Json pairs = pair_list(systems[a], systems[b], outcomes);
      if (!pairs.empty()) list.push_back({a, b, std::move(pairs)});
    }
  }
  return list;
}

bool has_common_ground(const Json& pairings, size_t a, std::span<const System> systems) {
  return std::ranges::any_of(pairings, [&](const Json& pairing) {
    return pairing[0] == a && systems[pairing[1].get<size_t>()].measured();
  });
}

Json system_list(std::span<const System> systems, const Json& pairings) {
  Json list = Json::array();
  for (size_t i = 0; i < systems.size(); ++i) {
    const System& system = systems[i];
    Json entry = {
        {"name", system.name}, {"engine", system.engine}, {"set", system.set}, {"machine", system.machine}};
    if (system.set == kShownBeside && has_common_ground(pairings, i, systems)) entry["beside"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

// What records share is said once: a set's source and protocol, a machine's description.
Json record_list(std::span<const Record> records, Json& sets, Dictionary& hosts) {
  Json list = Json::array();
  for (const Record& record : records) {
    Json json = to_json(record);
    if (!record.reference.empty()) {
      sets[record.reference] = {{"source", record.source}, {"protocol", record.protocol}};
      json.erase("source");
      json.erase("protocol");
    }
    json["system"] = hosts.number_of(json["system"]);
    list.push_back(std::move(json));
  }
  return list;
}

Json unit_list() {
  Json units = Json::array();
  for (const Metric& metric : metrics()) units.push_back(metric.unit);
  return units;
}

}  // namespace

Json page_data(std::span<const Record> records, const PageOrigin& origin) {
  auto [systems, owners] = systems_of(records);
  fill_selections(records, owners, systems);
  Dictionary outcomes, hosts;
  Json pairings = pairing_list(systems, outcomes), sets = Json::object();
  Json listed = record_list(records, sets, hosts);
  return {{"generated", origin.generated},
          {"version", origin.version},
          {"command", origin.command},
          {"machine", origin.machine},
          {"fields", field_list()},
          {"sets", std::move(sets)},
          {"hosts", hosts.take()},
          {"records", std::move(listed)},
          {"systems", system_list(systems, pairings)},
          {"places", place_list(records, owners)},
          {"units", unit_list()},
          {"outcomes", outcomes.take()},
          {"pairings", std::move(pairings)}};
}

}  // namespace tacho
