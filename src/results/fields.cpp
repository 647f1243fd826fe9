#include "results/fields.h"

#include <array>

#include "results/format.h"
#include "results/json_values.h"
#include "results/record_json.h"

namespace tacho {
namespace {

template<auto member>
Json get(const Record& record) {
  return json_of(record.*member);
}
template<auto member>
void set(Record& record, const Json& value) {
  read(value, record.*member);
}
template<auto member>
constexpr Access access = {get<member>, set<member>};

constexpr Access kVerdict = {[](const Record& record) { return Json(name_of(record.judgement.verdict)); },
                             [](Record& record, const Json& value) {
                               std::string name;
                               read(value, name);
                               record.judgement.verdict = parse_verdict(name);
                             }};
constexpr Access kReason = {[](const Record& record) { return json_of(record.judgement.reason); },
                            [](Record& record, const Json& value) { read(value, record.judgement.reason); }};
constexpr Access kSystem = {
    [](const Record& record) { return to_json(record.system); },
    [](Record& record, const Json& value) { record.system = system_from_json(value); }};

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
    Field{"schema", access<&R::schema>},
    Field{"id", access<&R::id>},
    Field{"time", access<&R::time>},
    Field{"kind", access<&R::kind>},
    Field{"model", access<&R::model>, Column::always, "model", text<&R::model>},
    Field{"mode", access<&R::mode>, Column::always, "mode", text<&R::mode>},
    Field{"engine", access<&R::engine>, Column::differing, "engine", text<&R::engine>},
    Field{"precision", access<&R::precision>, Column::differing, "precision", text<&R::precision>},
    Field{"batch", access<&R::batch>, Column::always, "batch", whole<&R::batch>, true},
    Field{"devices", access<&R::devices>, Column::differing, "devices", whole<&R::devices>, true},
    Field{"threads", access<&R::threads>, Column::differing, "threads", whole<&R::threads>, true},
    Field{"image", access<&R::image>, Column::differing, "image", text<&R::image>, true},
    Field{"classes", access<&R::classes>},
    Field{"warmup", access<&R::warmup>, Column::differing, "warm-up", whole<&R::warmup>, true},
    Field{"repeat", access<&R::repeat>, Column::differing, "repeat", whole<&R::repeat>, true},
    Field{"seed", access<&R::seed>},
    Field{"weights", access<&R::weights>},
    Field{"samples_ms", access<&R::samples_ms>},
    Field{"median_ms", access<&R::median_ms>, Column::always, "median ± MAD ms", median_text, true},
    Field{"mad_ms", access<&R::mad_ms>},
    Field{"min_ms", access<&R::min_ms>},
    Field{"mean_ms", access<&R::mean_ms>},
    Field{"median_low_ms", access<&R::median_low_ms>},
    Field{"median_high_ms", access<&R::median_high_ms>},
    Field{"p95_ms", access<&R::p95_ms>},
    Field{"forward_ms", access<&R::forward_ms>, Column::present, "forward ms", number<&R::forward_ms>, true},
    Field{"backward_ms", access<&R::backward_ms>, Column::present, "backward ms", number<&R::backward_ms>,
          true},
    Field{"update_ms", access<&R::update_ms>, Column::present, "update ms", number<&R::update_ms>, true},
    Field{"images_per_s", access<&R::images_per_s>, Column::present, "images/s", number<&R::images_per_s>,
          true},
    Field{"gflops", access<&R::gflops>, Column::present, "GFLOP/s", number<&R::gflops>, true},
    Field{"percent_of_peak", access<&R::percent_of_peak>, Column::present, "% of peak",
          number<&R::percent_of_peak>, true},
    Field{"compile_ms", access<&R::compile_ms>},
    Field{"peak_memory_mib", access<&R::peak_memory_mib>, Column::present, "memory MiB",
          number<&R::peak_memory_mib>, true},
    Field{"plan_memory_mib", access<&R::plan_memory_mib>},
    Field{"verdict", kVerdict, Column::always, "verdict", verdict_text},
    Field{"reason", kReason, Column::present, "reason", reason_text},
    Field{"system", kSystem},
};

}  // namespace

std::span<const Field> fields() { return kFields; }

}  // namespace tacho
