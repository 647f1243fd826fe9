#include "results/record_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json_object.h"
#include "results/fields.h"
#include "results/speedup.h"
#include "results/statistics.h"

namespace tacho {
namespace {

// Newer schemas may mean other things by the same names, so nothing of theirs is taken but schema and id.
void check_schema(const Json& json) {
  if (!json.is_object()) throw UserError("is no record: an object was expected");
  if (!json.contains("schema") || !json["schema"].is_number_integer()) {
    throw UserError("is no record of tacho: it has no schema number");
  }
  if (id_of(json).empty()) throw UserError("has no id");
  const auto schema = json["schema"].get<int64_t>();
  if (schema > Record::kSchema)
    throw NewerRecord("has schema {}; this tacho reads up to {}", schema, Record::kSchema);
  if (schema < 1) throw UserError("has schema {}, which never was", schema);
}

void check_fields(const Json& json) {
  const bool published = json.contains("reference");
  for (const Field& field : fields()) {
    const bool needed =
        field.presence == Presence::always || (field.presence == Presence::measured && !published);
    if (needed && !json.contains(field.name)) throw UserError("has no field '{}'", field.name);
  }
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> known) {
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
  if (!is_one_of(record.kind, kKinds)) throw NewerRecord("has the unknown kind '{}'", record.kind);
  if (!is_one_of(record.mode, kModes)) throw NewerRecord("has the unknown mode '{}'", record.mode);
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
  const auto images = static_cast<double>(images_per_pass(record));
  if (record.kind == "bench" && mean(samples) > 0) {
    check_follows("images_per_s", record.images_per_s, images / mean(samples) * 1e3);
  }
}

}  // namespace

std::string id_of(const Json& json) {
  const bool named = json.is_object() && json.contains("id") && json["id"].is_string();
  return named ? json["id"].get<std::string>() : "";
}

Json to_json(const Record& record) {
  Json object = Json::object();
  for (const Field& field : fields()) {
    Json value = field.access.get(record);
    if (!value.is_null()) object[std::string(field.name)] = std::move(value);
  }
  give_back(record.carried, object);
  return object;
}

Record record_from_json(const Json& json) {
  check_schema(json);
  check_fields(json);
  Record record;
  for (const auto& [key, value] : json.items()) {
    const Field* known = find_field(key);
    try {
      known == nullptr ? carry(key, value, record.carried) : known->access.set(record, value);
    } catch (const UserError& error) {
      throw UserError("field '{}' {}", key, error.what());
    }
  }
  check_names(record);
  check_figures(record);
  return record;
}

}  // namespace tacho
