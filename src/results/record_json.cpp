#include "results/record_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/json_object.h"
#include "results/fields.h"
#include "results/statistics.h"

namespace tacho {
namespace {

constexpr std::string_view kRequired[] = {"schema", "id", "kind", "model", "mode", "system"};
constexpr std::string_view kRequiredOfOwn[] = {"time", "verdict"};
constexpr std::string_view kKinds[] = {"bench", "train", "predict"}, kModes[] = {"infer", "train"};

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
  if (json.contains("reference")) return;
  for (const std::string_view name : kRequiredOfOwn) {
    if (!json.contains(name)) throw UserError("has no field '{}'", name);
  }
}

constexpr std::array kEpoch = {
    entry<Epoch, &Epoch::seconds>("seconds"),
    entry<Epoch, &Epoch::images_per_s>("images_per_s"),
    entry<Epoch, &Epoch::loss>("loss"),
    entry<Epoch, &Epoch::train_accuracy>("train_accuracy"),
    entry<Epoch, &Epoch::test_accuracy>("test_accuracy"),
    entry<Epoch, &Epoch::test_loss>("test_loss"),
    entry<Epoch, &Epoch::learning_rate>("learning_rate"),
    entry<Epoch, &Epoch::wait_seconds>("wait_seconds"),
    entry<Epoch, &Epoch::evaluation_seconds>("evaluation_seconds"),
};

bool is_one_of(std::string_view text, std::span<const std::string_view> known) {
  return std::ranges::find(known, text) != known.end();
}

// "2026-11-16T01:38:15Z".
bool is_time(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00T00:00:00Z";
  return std::ranges::equal(text, kPattern, [](char c, char pattern) {
    return pattern == '0' ? '0' <= c && c <= '9' : c == pattern;
  });
}

void check_names(const Record& record) {
  if (record.id.empty()) throw UserError("has an empty id");
  if (!is_one_of(record.kind, kKinds)) throw UserError("has the unknown kind '{}'", record.kind);
  if (!is_one_of(record.mode, kModes)) throw UserError("has the unknown mode '{}'", record.mode);
  if (record.reference.empty() && !is_time(record.time))
    throw UserError("has the time '{}', not ISO 8601 UTC", record.time);
  if (record.batch < 0 || record.devices < 0 || record.threads < 0 || record.repeat < 0 ||
      record.classes < 0) {
    throw UserError("has a negative count");
  }
}

void check_follows(std::string_view name, const std::optional<double>& figure, double expected) {
  if (figure && std::abs(*figure - expected) > 1e-9 * std::abs(expected) + 1e-12) {
    throw UserError("was changed: its {} does not follow from its samples_ms", name);
  }
}

// Everything that is computed from samples is computed again.
void check_figures(const Record& record) {
  const auto& samples = record.samples_ms;
  if (samples.empty()) return;
  if (!std::ranges::all_of(samples, [](double ms) { return std::isfinite(ms) && ms >= 0; })) {
    throw UserError("holds a sample that is no time");
  }
  if (record.repeat > 0 && std::cmp_not_equal(record.repeat, samples.size())) {
    throw UserError("was changed: it has {} samples_ms and repeat {}", samples.size(), record.repeat);
  }
  if (!record.median_ms || !record.min_ms) throw UserError("has samples_ms and no median_ms or min_ms");
  check_follows("median_ms", record.median_ms, median(samples));
  check_follows("min_ms", record.min_ms, minimum(samples));
  check_follows("mean_ms", record.mean_ms, mean(samples));
  check_follows("mad_ms", record.mad_ms, mad(samples));
  if (const auto interval = median_interval(samples)) {
    check_follows("median_low_ms", record.median_low_ms, interval->low);
    check_follows("median_high_ms", record.median_high_ms, interval->high);
  }
  const double images = static_cast<double>(record.batch * record.devices);
  if (record.kind == "bench" && mean(samples) > 0) {
    check_follows("images_per_s", record.images_per_s, images / mean(samples) * 1e3);
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
  check_names(record);
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
