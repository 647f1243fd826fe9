#include "results/fields.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/json_values.h"
#include "results/axis.h"
#include "results/format.h"
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
constexpr Access kVerdict = {
    [](const Record& record) { return record.reference.empty() ? Json(name_of(record.judgement)) : Json(); },
    [](Record& record, const Json& value) {
      std::string name;
      read(value, name);
      set_verdict(name, record.judgement);
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
  return record.reference.empty() ? std::string(name_of(record.judgement)) : "";
}
std::string reason_text(const Record& record) { return record.judgement.reason; }

using R = Record;

constexpr int64_t kLargestBatch = 1'000'000'000, kMostDevices = 4096, kMostClasses = 10'000'000;
constexpr int64_t kMostPasses = 1'000'000, kLargestSeed = std::numeric_limits<int64_t>::max();

using Values = std::vector<Json>;

Values words(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_words(option, text);
  return {parts.begin(), parts.end()};
}
Values modes(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, kModes);
  return {parts.begin(), parts.end()};
}
Values memories(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, {"normal", "low"});
  return {parts.begin(), parts.end()};
}
template<int64_t least, int64_t largest>
Values numbers(std::string_view option, std::string_view text) {
  const std::vector<int64_t> parts = parse_axis(option, text, largest, least);
  return {parts.begin(), parts.end()};
}
Values images(std::string_view option, std::string_view text) {
  Values values;
  for (const Extents& image : parse_image_axis(option, text)) values.emplace_back(to_string(image));
  return values;
}
Values file(std::string_view, std::string_view text) { return {Json(text)}; }

constexpr Field on_axis(Field field, Axis axis) {
  field.axis = axis;
  return field;
}

constexpr Field needed(Field field, Presence presence) {
  field.presence = presence;
  return field;
}

constexpr std::array kFields = {
    needed(Field{"schema", access<&R::schema>, Role::environment}, Presence::always),
    needed(Field{"id", access<&R::id>, Role::environment}, Presence::always),
    needed(Field{"time", access<&R::time>, Role::environment}, Presence::measured),
    needed(Field{"kind", access<&R::kind>, Role::subject}, Presence::always),
    Field{"run", access<&R::run>, Role::environment},
    Field{"suite", access<&R::suite>, Role::environment},
    Field{"command", access<&R::command>, Role::environment},
    on_axis(needed(Field{"model", access<&R::model>, Role::subject, Column::always, "model", text<&R::model>},
                   Presence::always),
            {.parse = words, .help = "Names of 'tacho models'", .nesting = 0}),
    on_axis(needed(Field{"mode", access<&R::mode>, Role::subject, Column::always, "mode", text<&R::mode>},
                   Presence::always),
            {.parse = modes, .fallback = "infer", .help = "infer, train or both", .nesting = 2}),
    on_axis(
        Field{"engine", access<&R::engine>, Role::means, Column::differing, "engine", text<&R::engine>},
        {.parse = words, .help = "Of those 'tacho system' lists; default: the first of them", .nesting = 3}),
    on_axis(Field{"precision", access<&R::precision>, Role::work, Column::differing, "precision",
                  text<&R::precision>},
            {.parse = words,
             .fallback = "f32",
             .help = "Of those that 'tacho system' lists for the engine",
             .nesting = 4}),
    on_axis(Field{"batch", count<&R::batch>, Role::work, Column::always, "batch", whole<&R::batch>, true},
            {.parse = numbers<1, kLargestBatch>,
             .help = "Per device: 16,32 or 1-8 or 16-2048*2; default: 16, volumes 1",
             .nesting = 9}),
    Field{"batch_total", count<&R::batch_total>, Role::work, Column::present, "total batch",
          whole<&R::batch_total>, true},
    on_axis(Field{"devices", count<&R::devices>, Role::work, Column::differing, "devices", whole<&R::devices>,
                  true},
            {.parse = numbers<1, kMostDevices>,
             .fallback = "1",
             .help = "How many share the work",
             .nesting = 7}),
    on_axis(Field{"threads", count<&R::threads>, Role::means, Column::differing, "threads",
                  whole<&R::threads>, true},
            {.parse = numbers<1, kMostThreads>,
             .help = "Per device; default: usable cores / devices",
             .nesting = 8}),
    Field{"nodes", count<&R::nodes>, Role::work, Column::present, "nodes", whole<&R::nodes>, true},
    on_axis(
        Field{"image", access<&R::image>, Role::work, Column::differing, "image", text<&R::image>, true},
        {.parse = images, .help = "224 or 224x160 or 40x216x216; default: the network's own", .nesting = 1}),
    on_axis(Field{"classes", count<&R::classes>, Role::work}, {.parse = numbers<1, kMostClasses>,
                                                               .fallback = "1000",
                                                               .help = "Of the classifiers",
                                                               .single = true}),
    on_axis(
        Field{"warmup", access<&R::warmup>, Role::protocol, Column::differing, "warm-up", warmup_text, true},
        {.parse = numbers<0, kMostPasses>,
         .fallback = "5",
         .help = "Passes before the timed ones",
         .single = true}),
    on_axis(Field{"repeat", count<&R::repeat>, Role::protocol, Column::differing, "repeat", whole<&R::repeat>,
                  true},
            {.parse = numbers<1, kMostPasses>, .fallback = "20", .help = "Timed passes", .single = true}),
    on_axis(
        Field{"seed", access<&R::seed>, Role::means},
        {.parse = numbers<0, kLargestSeed>, .fallback = "0", .help = "Of weights and data", .single = true}),
    on_axis(Field{"weights", access<&R::weights>, Role::protocol},
            {.parse = file,
             .help = "A safetensors file with torchvision's names; default: random",
             .single = true}),
    on_axis(Field{"kernel", access<&R::kernel>, Role::means, Column::present, "kernel", text<&R::kernel>},
            {.parse = words,
             .help = "Of convolutions, where it can: onednn, winograd or direct; default: the fastest, by "
                     "measurement",
             .nesting = 5}),
    on_axis(Field{"memory", access<&R::memory>, Role::means, Column::present, "memory", text<&R::memory>},
            {.parse = memories,
             .fallback = "normal",
             .help = "Of training, normal or low: low computes activations again rather than keep them",
             .nesting = 6}),
    Field{"data", access<&R::data>, Role::means, Column::differing, "data", text<&R::data>},
    Field{"recipe", access<&R::recipe>, Role::means, Column::differing, "recipe", text<&R::recipe>},
    Field{"time_includes", access<&R::time_includes>, Role::protocol},
    Field{"interleaved", access<&R::interleaved>, Role::protocol},
    Field{"samples_ms", access<&R::samples_ms>, Role::figure},
    Field{"median_ms", access<&R::median_ms>, Role::figure, Column::present, "median ± MAD ms", median_text,
          true},
    Field{"mad_ms", access<&R::mad_ms>, Role::figure},
    Field{"min_ms", access<&R::min_ms>, Role::figure},
    Field{"mean_ms", access<&R::mean_ms>, Role::figure, Column::present, "mean ms", published_mean_text,
          true},
    Field{"median_low_ms", access<&R::median_low_ms>, Role::figure},
    Field{"median_high_ms", access<&R::median_high_ms>, Role::figure},
    Field{"p95_ms", access<&R::p95_ms>, Role::figure},
    Field{"drift_percent", access<&R::drift_percent>, Role::figure},
    Field{"outliers", access<&R::outliers>, Role::figure},
    Field{"forward_ms", access<&R::forward_ms>, Role::figure, Column::present, "forward ms",
          number<&R::forward_ms>, true},
    Field{"backward_ms", access<&R::backward_ms>, Role::figure, Column::present, "backward ms",
          number<&R::backward_ms>, true},
    Field{"update_ms", access<&R::update_ms>, Role::figure, Column::present, "update ms",
          number<&R::update_ms>, true},
    Field{"images_per_s", access<&R::images_per_s>, Role::figure, Column::present, "images/s",
          number<&R::images_per_s>, true},
    Field{"forward_images_per_s", access<&R::forward_images_per_s>, Role::figure, Column::present,
          "forward images/s", number<&R::forward_images_per_s>, true},
    Field{"backward_images_per_s", access<&R::backward_images_per_s>, Role::figure, Column::present,
          "backward images/s", number<&R::backward_images_per_s>, true},
    Field{"speedup", access<&R::speedup>, Role::figure, Column::present, "speed-up", number<&R::speedup>,
          true},
    Field{"flop_per_pass", access<&R::flop_per_pass>, Role::figure},
    Field{"bytes_per_pass", access<&R::bytes_per_pass>, Role::figure},
    Field{"gflops", access<&R::gflops>, Role::figure, Column::present, "GFLOP/s", number<&R::gflops>, true},
    Field{"percent_of_peak", access<&R::percent_of_peak>, Role::figure, Column::present, "% of peak",
          number<&R::percent_of_peak>, true},
    Field{"compile_ms", access<&R::compile_ms>, Role::figure},
    Field{"peak_memory_mib", access<&R::peak_memory_mib>, Role::figure, Column::present, "memory MiB",
          number<&R::peak_memory_mib>, true},
    Field{"plan_memory_mib", access<&R::plan_memory_mib>, Role::figure},
    Field{"evaluation_plan_memory_mib", access<&R::evaluation_plan_memory_mib>, Role::figure},
    Field{"phase_memory_mib", access<&R::phase_memory_mib>, Role::figure},
    Field{"epochs", access<&R::epochs>, Role::figure},
    Field{"epoch_count", access<&R::epoch_count>, Role::work, Column::present, "epochs", epochs_text, true},
    Field{"iterations", access<&R::iterations>, Role::figure},
    Field{"seconds", access<&R::seconds>, Role::figure, Column::present, "total s", number<&R::seconds, 5>,
          true},
    Field{"seconds_per_epoch", access<&R::seconds_per_epoch>, Role::figure, Column::present, "s/epoch",
          number<&R::seconds_per_epoch, 4>, true},
    Field{"evaluation_seconds", access<&R::evaluation_seconds>, Role::figure},
    Field{"wait_percent", access<&R::wait_percent>, Role::figure, Column::present, "waiting for data %",
          number<&R::wait_percent, 2>, true},
    Field{"train_accuracy", access<&R::train_accuracy>, Role::figure, Column::present, "train accuracy",
          number<&R::train_accuracy>, true},
    Field{"test_accuracy", access<&R::test_accuracy>, Role::figure, Column::present, "test accuracy",
          number<&R::test_accuracy>, true},
    Field{"target_accuracy", access<&R::target_accuracy>, Role::protocol},
    Field{"seconds_to_target", access<&R::seconds_to_target>, Role::figure, Column::present, "s to target",
          number<&R::seconds_to_target, 4>, true},
    Field{"iterations_per_min", access<&R::iterations_per_min>, Role::figure, Column::present,
          "iterations/min", number<&R::iterations_per_min>, true},
    Field{"output_mvox_per_s", access<&R::output_mvox_per_s>, Role::figure, Column::present, "Mvox/s",
          number<&R::output_mvox_per_s>, true},
    Field{"reference", access<&R::reference>, Role::environment},
    Field{"source", access<&R::source>, Role::environment},
    Field{"protocol", access<&R::protocol>, Role::environment},
    Field{"known_error", access<&R::known_error>, Role::environment, Column::present, "known error",
          text<&R::known_error>},
    Field{"correction", access<&R::correction>, Role::environment, Column::present, "correction",
          text<&R::correction>},
    Field{"corrected", access<&R::corrected>, Role::figure},
    Field{"extrapolated", access<&R::extrapolated>, Role::figure},
    needed(Field{"verdict", kVerdict, Role::figure, Column::present, "verdict", verdict_text},
           Presence::measured),
    Field{"reason", kReason, Role::figure, Column::present, "reason", reason_text},
    needed(Field{"system", kSystem, Role::environment}, Presence::always),
};

}  // namespace

std::span<const Field> fields() { return kFields; }

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : &*found;
}

bool agree(const Record& a, const Record& b, std::initializer_list<Role> roles) {
  return std::ranges::all_of(kFields, [&](const Field& field) {
    const bool matters = std::ranges::find(roles, field.role) != roles.end();
    return !matters || field.access.get(a) == field.access.get(b);
  });
}

}  // namespace tacho
