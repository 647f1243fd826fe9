#include "results/fields.h"

#include <array>

#include "results/format.h"

namespace tacho {
namespace {

template<typename T>
Json json_of(const T& value) {
  return value;
}
template<typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
template<typename T>
Json json_of(const std::vector<T>& values) {
  return values.empty() ? Json() : Json(values);
}
Json json_of(const std::string& text) { return text.empty() ? Json() : Json(text); }

template<auto member>
Json get(const Record& record) {
  return json_of(record.*member);
}

Json get_verdict(const Record& record) { return name_of(record.judgement.verdict); }
Json get_reason(const Record& record) { return json_of(record.judgement.reason); }
Json get_system(const Record& record) { return to_json(record.system); }

template<auto member>
std::string text(const Record& record) {
  return record.*member;
}
template<auto member>
std::string whole(const Record& record) {
  return std::to_string(record.*member);
}
template<auto member, int digits = 3>
std::string number(const Record& record) {
  return record.*member ? format_significant(*(record.*member), digits) : "";
}

std::string median_text(const Record& record) {
  return record.median_ms ? format_with_deviation(*record.median_ms, *record.mad_ms, 4) : "";
}
std::string verdict_text(const Record& record) { return std::string(name_of(record.judgement.verdict)); }
std::string reason_text(const Record& record) { return record.judgement.reason; }

using R = Record;

constexpr std::array kFields = {
    Field{"schema", get<&R::schema>},
    Field{"id", get<&R::id>},
    Field{"time", get<&R::time>},
    Field{"kind", get<&R::kind>},
    Field{"model", get<&R::model>, Column::always, "model", text<&R::model>},
    Field{"mode", get<&R::mode>, Column::always, "mode", text<&R::mode>},
    Field{"engine", get<&R::engine>, Column::differing, "engine", text<&R::engine>},
    Field{"precision", get<&R::precision>, Column::differing, "precision", text<&R::precision>},
    Field{"batch", get<&R::batch>, Column::always, "batch", whole<&R::batch>, true},
    Field{"devices", get<&R::devices>, Column::differing, "devices", whole<&R::devices>, true},
    Field{"threads", get<&R::threads>, Column::differing, "threads", whole<&R::threads>, true},
    Field{"image", get<&R::image>, Column::differing, "image", text<&R::image>, true},
    Field{"classes", get<&R::classes>},
    Field{"warmup", get<&R::warmup>, Column::differing, "warm-up", whole<&R::warmup>, true},
    Field{"repeat", get<&R::repeat>, Column::differing, "repeat", whole<&R::repeat>, true},
    Field{"seed", get<&R::seed>},
    Field{"weights", get<&R::weights>},
    Field{"samples_ms", get<&R::samples_ms>},
    Field{"median_ms", get<&R::median_ms>, Column::always, "median ± MAD ms", median_text, true},
    Field{"mad_ms", get<&R::mad_ms>},
    Field{"min_ms", get<&R::min_ms>},
    Field{"mean_ms", get<&R::mean_ms>},
    Field{"median_low_ms", get<&R::median_low_ms>},
    Field{"median_high_ms", get<&R::median_high_ms>},
    Field{"p95_ms", get<&R::p95_ms>},
    Field{"forward_ms", get<&R::forward_ms>, Column::present, "forward ms", number<&R::forward_ms>, true},
    Field{"backward_ms", get<&R::backward_ms>, Column::present, "backward ms", number<&R::backward_ms>, true},
    Field{"update_ms", get<&R::update_ms>, Column::present, "update ms", number<&R::update_ms>, true},
    Field{"images_per_s", get<&R::images_per_s>, Column::present, "images/s", number<&R::images_per_s>, true},
    Field{"gflops", get<&R::gflops>, Column::present, "GFLOP/s", number<&R::gflops>, true},
    Field{"percent_of_peak", get<&R::percent_of_peak>, Column::present, "% of peak",
          number<&R::percent_of_peak>, true},
    Field{"compile_ms", get<&R::compile_ms>},
    Field{"peak_memory_mib", get<&R::peak_memory_mib>, Column::present, "memory MiB",
          number<&R::peak_memory_mib>, true},
    Field{"plan_memory_mib", get<&R::plan_memory_mib>},
    Field{"verdict", get_verdict, Column::always, "verdict", verdict_text},
    Field{"reason", get_reason, Column::present, "reason", reason_text},
    Field{"system", get_system},
};

}  // namespace

std::span<const Field> fields() { return kFields; }

Json to_json(const Record& record) {
  Json object = Json::object();
  for (const Field& field : kFields) {
    Json value = field.get(record);
    if (!value.is_null()) object[std::string(field.name)] = std::move(value);
  }
  return object;
}

Json to_json(const SystemInfo& system) {
  Json object = {
      {"name", system.name},       {"cpu", system.cpu},
      {"cores", system.cores},     {"memory_mib", system.memory_mib},
      {"os", system.os},           {"compiler", system.compiler},
      {"engines", system.engines}, {"libraries", system.libraries},
      {"version", system.version}, {"build_type", system.build_type},
  };
  if (!system.commit.empty()) object["commit"] = system.commit;
  return object;
}

}  // namespace tacho
