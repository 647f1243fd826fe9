#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "report/grid.h"
#include "report/pairing.h"
#include "results/fields.h"
#include "results/format.h"

namespace tacho {
namespace {

struct NamedPair {
  std::string_view against;
  ComparedPair pair;
};

std::vector<NamedPair> all_pairs(std::span<const Selection> selections) {
  std::vector<NamedPair> all;
  for (const Selection& other : selections.subspan(1)) {
    for (ComparedPair& pair : compare_selections(selections[0], other)) {
      all.push_back({other.name, std::move(pair)});
    }
  }
  return all;
}

// "native", or "native / pytorch" where the two differ.
std::string both(const Field& field, const ComparedPair& pair) {
  const std::string a = field.text(pair.a), b = field.text(pair.b);
  return a == b || b.empty() ? a : fmt::format("{} / {}", a.empty() ? "?" : a, b);
}

bool describes_case(const Field& field) {
  return (field.role == FieldRole::work || field.role == FieldRole::means) && field.column != Column::never;
}

bool is_shared(const Field& field, std::span<const NamedPair> pairs) {
  return std::ranges::all_of(
      pairs, [&](const NamedPair& p) { return both(field, p.pair) == both(field, pairs[0].pair); });
}

std::string system_text(const NamedPair& named) {
  const std::string &a = named.pair.a.system.name, &b = named.pair.b.system.name;
  return a == b ? a : fmt::format("{} / {}", a, b);
}

// Two sides are named in the header; more have to be told apart in the rows.
bool has_several_systems(std::span<const NamedPair> pairs) {
  const NamedPair& first = pairs[0];
  return std::ranges::any_of(pairs, [&](const NamedPair& p) {
    return p.pair.a.system.name != first.pair.a.system.name ||
           (p.against == first.against && p.pair.b.system.name != first.pair.b.system.name);
  });
}

std::string interval_text(const Comparison& comparison) {
  if (!comparison.interval) return "";
  return fmt::format("{} - {}", format_significant(comparison.interval->low, kRatioDigits),
                     format_significant(comparison.interval->high, kRatioDigits));
}

std::string notes_text(const ComparedPair& pair) {
  std::vector<std::string> notes = pair.refusals;
  notes.insert(notes.end(), pair.marks.begin(), pair.marks.end());
  return fmt::format("{}", fmt::join(notes, "; "));
}

class Columns {
 public:
  explicit Columns(std::span<const NamedPair> pairs) : pairs_(pairs) { grid_.rows.resize(pairs.size()); }

  template<typename Text>
  void add(GridColumn column, const Text& text) {
    grid_.columns.push_back(std::move(column));
    for (size_t i = 0; i < pairs_.size(); ++i) grid_.rows[i].push_back(text(pairs_[i]));
  }

  Grid take() { return std::move(grid_); }

 private:
  std::span<const NamedPair> pairs_;
  Grid grid_;
};

void add_values(std::span<const Selection> selections, std::span<const NamedPair> pairs, Columns& columns) {
  const std::string_view unit = pairs[0].pair.metric->unit;
  const bool one_unit =
      std::ranges::all_of(pairs, [&](const NamedPair& p) { return p.pair.metric->unit == unit; });
  const bool one_other = selections.size() == 2;
  const std::string suffix = one_unit ? fmt::format(" {}", unit) : "";
  if (!one_other)
    columns.add({"against", false, Importance::much},
                [](const NamedPair& p) { return std::string(p.against); });
  columns.add({selections[0].name + suffix, true},
              [](const NamedPair& p) { return format_significant(p.pair.a_value, kFigureDigits); });
  columns.add({(one_other ? selections[1].name : "other") + suffix, true},
              [](const NamedPair& p) { return format_significant(p.pair.b_value, kFigureDigits); });
  if (!one_unit) columns.add({"unit"}, [](const NamedPair& p) { return std::string(p.pair.metric->unit); });
}

Grid grid_of(std::span<const Selection> selections, std::span<const NamedPair> pairs) {
  Columns columns(pairs);
  columns.add({"model", false, Importance::most}, [](const NamedPair& p) { return p.pair.a.model; });
  columns.add({"mode", false, Importance::most}, [](const NamedPair& p) { return p.pair.a.mode; });
  if (has_several_systems(pairs)) columns.add({"system", false, Importance::much}, system_text);
  for (const Field& field : fields()) {
    if (!describes_case(field) || is_shared(field, pairs)) continue;
    columns.add({std::string(field.header), field.number, importance_of(field)},
                [&](const NamedPair& p) { return both(field, p.pair); });
  }
  add_values(selections, pairs, columns);
  const auto unless_refused = [](const NamedPair& p, std::string text) {
    return p.pair.refusals.empty() ? text : "";
  };
  columns.add({"ratio", true, Importance::most}, [&](const NamedPair& p) {
    return unless_refused(p, format_significant(p.pair.comparison.ratio, kRatioDigits));
  });
  columns.add({"interval", true},
              [&](const NamedPair& p) { return unless_refused(p, interval_text(p.pair.comparison)); });
  columns.add({"answer", false, Importance::most}, [](const NamedPair& p) {
    return p.pair.refusals.empty() ? std::string(name_of(p.pair.comparison.answer)) : "not compared";
  });
  if (std::ranges::any_of(pairs, [](const NamedPair& p) { return !notes_text(p.pair).empty(); })) {
    columns.add({"note", false, Importance::little}, [](const NamedPair& p) { return notes_text(p.pair); });
  }
  return columns.take();
}

std::string caption(std::span<const Selection> selections, std::span<const NamedPair> pairs) {
  std::string line = fmt::format("ratio above 1: {} is faster", selections[0].name);
  for (const Field& field : fields()) {
    if (!describes_case(field) || !is_shared(field, pairs)) continue;
    const std::string text = both(field, pairs[0].pair);
    if (!text.empty()) line += fmt::format(", {} {}", field.header, text);
  }
  return line + "\n\n";
}

Json entry_of(const NamedPair& named, const std::string& first) {
  const ComparedPair& pair = named.pair;
  Json object = {{"model", pair.a.model}, {"mode", pair.a.mode}};
  for (const auto& [name, record] : {std::pair{"a", &pair.a}, std::pair{"b", &pair.b}}) {
    Json& side = object[name];
    side["name"] = record == &pair.a ? first : std::string(named.against);
    side["id"] = record->id;
    side["system"] = record->system.name;
    for (const Field& field : fields()) {
      const Json value = field.access.get(*record);
      if (describes_case(field) && !value.is_null()) side[std::string(field.name)] = value;
    }
    side["value"] = record == &pair.a ? pair.a_value : pair.b_value;
  }
  object["unit"] = pair.metric->unit;
  object["notes"] = pair.marks;
  if (!pair.refusals.empty()) {
    object["refused"] = pair.refusals;
    return object;
  }
  object["ratio"] = pair.comparison.ratio;
  if (pair.comparison.interval) {
    object["interval"] = {pair.comparison.interval->low, pair.comparison.interval->high};
  }
  object["answer"] = name_of(pair.comparison.answer);
  return object;
}

}  // namespace

bool any_slower(std::span<const Selection> selections, double share) {
  return std::ranges::any_of(all_pairs(selections), [&](const NamedPair& named) {
    const ComparedPair& pair = named.pair;
    return pair.refusals.empty() && pair.comparison.answer == Answer::slower &&
           1 / pair.comparison.ratio > 1 + share;
  });
}

std::string format_comparison(std::span<const Selection> selections, const Layout& layout) {
  const std::vector<NamedPair> pairs = all_pairs(selections);
  if (pairs.empty())
    throw UserError("{} and the others have no network and mode in common", selections[0].name);
  if (is_for_people(layout.format)) {
    return wrap(caption(selections, pairs), layout.width) + render(grid_of(selections, pairs), layout);
  }
  Json list = Json::array();
  for (const NamedPair& pair : pairs) list.push_back(entry_of(pair, selections[0].name));
  return format_objects(list, layout.format);
}

}  // namespace tacho
