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
template<typename T>
constexpr bool is_plain = true;
template<typename T>
constexpr bool is_plain<std::vector<T>> = false;
template<typename K, typename V>
constexpr bool is_plain<std::map<K, V>> = false;

template<auto member>
constexpr Access access = {get<member>, set<member>,
                           is_plain<std::remove_cvref_t<decltype(std::declval<Record>().*member)>>};

// A count that is not known is zero.
template<auto member>
constexpr Access count = {[](const Record& r) { return r.*member == 0 ? Json() : Json(r.*member); },
                          set<member>};

// Nobody judged published results.
constexpr Access kVerdict = {[](const Record& record) {
                               return record.reference.empty() ? Json(name_of(record.judgement.verdict))
                                                               : Json();
                             },
                             [](Record& record, const Json& value) {
                               std::string name;
                               read(value, name);
                               record.judgement.verdict = parse_verdict(name);
                             }};
constexpr Access kReason = {[](const Record& record) { return json_of(record.judgement.reason); },
                            [](Record& record, const Json& value) { read(value, record.judgement.reason); }};
constexpr Access kSystem = {[](const Record& record) { return json_of(record.system); },
                            [](Record& record, const Json& value) { read(value, record.system); }, false};

template<auto member>
std::string text(const Record& record) {
  return record.*member;
}
template<auto member>
std::string whole(const Record& record) {
  return record.*member == 0 ? "" : std::to_string(record.*member);
}
template<auto member, int digits = 3>
std::string number(const Record& record) {
  return record.*member ? format_significant(*(record.*member), digits) : "";
}

std::string median_text(const Record& record) {
  if (record.median_ms && !record.mad_ms) return format_significant(*record.median_ms, 4);
  return record.median_ms ? format_with_deviation(*record.median_ms, *record.mad_ms, 4) : "";
}
// Our own records have a median, which says more.
std::string published_mean_text(const Record& record) {
  return record.median_ms ? "" : number<&Record::mean_ms, 4>(record);
}
std::string warmup_text(const Record& record) { return record.warmup ? std::to_string(*record.warmup) : ""; }
std::string epochs_text(const Record& record) {
  return record.epoch_count ? std::to_string(*record.epoch_count) : "";
}
std::string verdict_text(const Record& record) {
  return record.reference.empty() ? std::string(name_of(record.judgement.verdict)) : "";
}
std::string reason_text(const Record& record) { return record.judgement.reason; }

using R = Record;

constexpr std::array kFields = {
    Field{"schema", access<&R::schema>},
    Field{"id", access<&R::id>},
    Field{"time", access<&R::time>},
    Field{"kind", access<&R::kind>},
    Field{"run", access<&R::run>},
    Field{"suite", access<&R::suite>},
    Field{"command", access<&R::command>},
    Field{"model", access<&R::model>, Column::always, "model", text<&R::model>},
    Field{"mode", access<&R::mode>, Column::always, "mode", text<&R::mode>},
    Field{"engine", access<&R::engine>, Column::differing, "engine", text<&R::engine>},
    Field{"precision", access<&R::precision>, Column::differing, "precision", text<&R::precision>},
    Field{"batch", count<&R::batch>, Column::always, "batch", whole<&R::batch>, true},
    Field{"batch_total", count<&R::batch_total>, Column::present, "total batch", whole<&R::batch_total>,
          true},
    Field{"devices", count<&R::devices>, Column::differing, "devices", whole<&R::devices>, true},
    Field{"threads", count<&R::threads>, Column::differing, "threads", whole<&R::threads>, true},
    Field{"nodes", count<&R::nodes>, Column::present, "nodes", whole<&R::nodes>, true},
    Field{"image", access<&R::image>, Column::differing, "image", text<&R::image>, true},
    Field{"classes", count<&R::classes>},
    Field{"warmup", access<&R::warmup>, Column::differing, "warm-up", warmup_text, true},
    Field{"repeat", count<&R::repeat>, Column::differing, "repeat", whole<&R::repeat>, true},
    Field{"seed", access<&R::seed>},
    Field{"weights", access<&R::weights>},
    Field{"kernel", access<&R::kernel>, Column::present, "kernel", text<&R::kernel>},
    Field{"memory", access<&R::memory>, Column::present, "memory", text<&R::memory>},
    Field{"data", access<&R::data>, Column::differing, "data", text<&R::data>},
    Field{"recipe", access<&R::recipe>, Column::differing, "recipe", text<&R::recipe>},
    Field{"time_includes", access<&R::time_includes>},
    Field{"interleaved", access<&R::interleaved>},
    Field{"samples_ms", access<&R::samples_ms>},
    Field{"median_ms", access<&R::median_ms>, Column::present, "median ± MAD ms", median_text, true},
    Field{"mad_ms", access<&R::mad_ms>},
    Field{"min_ms", access<&R::min_ms>},
    Field{"mean_ms", access<&R::mean_ms>, Column::present, "mean ms", published_mean_text, true},
    Field{"median_low_ms", access<&R::median_low_ms>},
    Field{"median_high_ms", access<&R::median_high_ms>},
    Field{"p95_ms", access<&R::p95_ms>},
    Field{"drift_percent", access<&R::drift_percent>},
    Field{"outliers", access<&R::outliers>},
    Field{"forward_ms", access<&R::forward_ms>, Column::present, "forward ms", number<&R::forward_ms>, true},
    Field{"backward_ms", access<&R::backward_ms>, Column::present, "backward ms", number<&R::backward_ms>,
          true},
    Field{"update_ms", access<&R::update_ms>, Column::present, "update ms", number<&R::update_ms>, true},
    Field{"images_per_s", access<&R::images_per_s>, Column::present, "images/s", number<&R::images_per_s>,
          true},
    Field{"forward_images_per_s", access<&R::forward_images_per_s>, Column::present, "forward images/s",
          number<&R::forward_images_per_s>, true},
    Field{"backward_images_per_s", access<&R::backward_images_per_s>, Column::present, "backward images/s",
          number<&R::backward_images_per_s>, true},
    Field{"speedup", access<&R::speedup>, Column::present, "speed-up", number<&R::speedup>, true},
    Field{"flop_per_pass", access<&R::flop_per_pass>},
    Field{"bytes_per_pass", access<&R::bytes_per_pass>},
    Field{"gflops", access<&R::gflops>, Column::present, "GFLOP/s", number<&R::gflops>, true},
    Field{"percent_of_peak", access<&R::percent_of_peak>, Column::present, "% of peak",
          number<&R::percent_of_peak>, true},
    Field{"compile_ms", access<&R::compile_ms>},
    Field{"peak_memory_mib", access<&R::peak_memory_mib>, Column::present, "memory MiB",
          number<&R::peak_memory_mib>, true},
    Field{"plan_memory_mib", access<&R::plan_memory_mib>},
    Field{"evaluation_plan_memory_mib", access<&R::evaluation_plan_memory_mib>},
    Field{"phase_memory_mib", access<&R::phase_memory_mib>},
    Field{"epochs", access<&R::epochs>},
    Field{"epoch_count", access<&R::epoch_count>, Column::present, "epochs", epochs_text, true},
    Field{"iterations", access<&R::iterations>},
    Field{"seconds", access<&R::seconds>, Column::present, "total s", number<&R::seconds, 5>, true},
    Field{"seconds_per_epoch", access<&R::seconds_per_epoch>, Column::present, "s/epoch",
          number<&R::seconds_per_epoch, 4>, true},
    Field{"evaluation_seconds", access<&R::evaluation_seconds>},
    Field{"wait_percent", access<&R::wait_percent>, Column::present, "waiting for data %",
          number<&R::wait_percent, 2>, true},
    Field{"train_accuracy", access<&R::train_accuracy>, Column::present, "train accuracy",
          number<&R::train_accuracy>, true},
    Field{"test_accuracy", access<&R::test_accuracy>, Column::present, "test accuracy",
          number<&R::test_accuracy>, true},
    Field{"target_accuracy", access<&R::target_accuracy>},
    Field{"seconds_to_target", access<&R::seconds_to_target>, Column::present, "s to target",
          number<&R::seconds_to_target, 4>, true},
    Field{"iterations_per_min", access<&R::iterations_per_min>, Column::present, "iterations/min",
          number<&R::iterations_per_min>, true},
    Field{"output_mvox_per_s", access<&R::output_mvox_per_s>, Column::present, "Mvox/s",
          number<&R::output_mvox_per_s>, true},
    Field{"reference", access<&R::reference>},
    Field{"source", access<&R::source>},
    Field{"protocol", access<&R::protocol>},
    Field{"known_error", access<&R::known_error>, Column::present, "known error", text<&R::known_error>},
    Field{"correction", access<&R::correction>, Column::present, "correction", text<&R::correction>},
    Field{"corrected", access<&R::corrected>},
    Field{"extrapolated", access<&R::extrapolated>},
    Field{"verdict", kVerdict, Column::present, "verdict", verdict_text},
    Field{"reason", kReason, Column::present, "reason", reason_text},
    Field{"system", kSystem},
};

}  // namespace

std::span<const Field> fields() { return kFields; }

}  // namespace tacho
