#include "results/record_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "results/fields.h"
#include "results/json_object.h"
#include "results/statistics.h"

namespace tacho {
namespace {

constexpr std::string_view kRequired[] = {"schema", "id", "time", "kind", "model", "verdict", "system"};

// Newer schemas may mean other things by the same names, so nothing of theirs is taken.
void check_schema(const Json& json) {
  if (!json.is_object()) throw UserError("is no record: an object was expected");
  if (!json.contains("schema") || !json["schema"].is_number_integer()) {
    throw UserError("is no record of tacho: it has no schema number");
  }
  const auto schema = json["schema"].get<int64_t>();
  if (schema < 1 || schema > Record::kSchema) {
    throw UserError("has schema {}; this tacho reads up to {}", schema, Record::kSchema);
  }
}

void check_fields(const Json& json) {
  for (const std::string_view name : kRequired) {
    if (!json.contains(name)) throw UserError("has no field '{}'", name);
  }
}

constexpr std::array kEpoch = {
    entry<Epoch, &Epoch::seconds>("seconds"),
    entry<Epoch, &Epoch::images_per_s>("images_per_s"),
    entry<Epoch, &Epoch::loss>("loss"),
    entry<Epoch, &Epoch::train_accuracy>("train_accuracy"),
    entry<Epoch, &Epoch::test_accuracy>("test_accuracy"),
};

bool follows(const std::optional<double>& figure, double expected) {
  return figure && std::abs(*figure - expected) <= 1e-9 * std::abs(expected);
}

void check_figures(const Record& record) {
  const auto& samples = record.samples_ms;
  if (samples.empty()) return;
  if (!std::ranges::all_of(samples, [](double ms) { return std::isfinite(ms) && ms >= 0; })) {
    throw UserError("holds a sample that is no time");
  }
  if (!follows(record.median_ms, median(samples)) || !follows(record.min_ms, minimum(samples))) {
    throw UserError("was changed: its median_ms or min_ms does not follow from its samples_ms");
  }
}

}  // namespace

Json to_json(const Record& record) {
  Json object = Json::object();
  for (const Field& field : fields()) {
    Json value = field.access.get(record);
    if (!value.is_null()) object[std::string(field.name)] = std::move(value);
  }
  return object;
}

Json json_of(const Epoch& epoch) { return object_of<Epoch>(kEpoch, epoch); }
void read(const Json& json, Epoch& epoch) { read_object<Epoch>(kEpoch, json, epoch); }

Record record_from_json(const Json& json) {
  check_schema(json);
  check_fields(json);
  Record record;
  for (const auto& [key, value] : json.items()) {
    const auto known = std::ranges::find(fields(), key, &Field::name);
    if (known == fields().end()) throw UserError("has the unknown field '{}'", key);
    try {
      known->access.set(record, value);
    } catch (const UserError& error) {
      throw UserError("field '{}' {}", key, error.what());
    }
  }
  check_figures(record);
  return record;
}

std::vector<Record> parse_records(std::string_view text, std::string_view source) {
  std::vector<Json> objects;
  Json whole = Json::parse(text, nullptr, false);
  if (whole.is_array()) {
    objects.assign(whole.begin(), whole.end());
  } else if (whole.is_object()) {
    objects.push_back(std::move(whole));
  } else {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      if (end > begin) objects.push_back(Json::parse(text.substr(begin, end - begin), nullptr, false));
      begin = end + 1;
    }
  }
  if (objects.empty() && !whole.is_array()) throw UserError("{}: holds no record", source);
  std::vector<Record> records;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].is_discarded()) {
      throw UserError("{}: is not JSON, or is cut off; a file of --format json or jsonl was expected",
                      source);
    }
    try {
      records.push_back(record_from_json(objects[i]));
    } catch (const UserError& error) {
      throw UserError("{}: record {} {}", source, i + 1, error.what());
    }
  }
  return records;
}

}  // namespace tacho
