#include "results/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/cpu.h"
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
// The largest part first: "wait 3.1, exposed all-reduce 1.2".
std::string lost_text(const Record& record) {
  std::vector<std::pair<std::string, double>> parts(record.lost_ms.begin(), record.lost_ms.end());
  std::ranges::stable_sort(parts, std::ranges::greater(), &std::pair<std::string, double>::second);
  std::string text;
  for (const auto& [part, ms] : parts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part, format_significant(ms, 2));
  return text;
}
std::string verdict_text(const Record& record) {
  return record.reference.empty() ? std::string(name_of(record.judgement)) : "";
}
std::string reason_text(const Record& record) { return record.judgement.reason; }

using R = Record;

constexpr int64_t kLargestBatch = 1'000'000'000, kMostDevices = 4096, kMostClasses = 10'000'000;
constexpr int64_t kMostBucketMib = 1 << 20;
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
Values parallels(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, kParallels);
  return {parts.begin(), parts.end()};
}
Values batch_norms(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, {"local", "sync"});
  return {parts.begin(), parts.end()};
}
Values memories(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, {"normal", "low"});
  return {parts.begin(), parts.end()};
}
Values switches(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = parse_choices(option, text, {"off", "on"});
  return {parts.begin(), parts.end()};
}
template<int64_t largest>
Values numbers(std::string_view option, std::string_view text) {
  const std::vector<int64_t> parts = parse_axis(option, text, largest);
  return {parts.begin(), parts.end()};
}
template<int64_t least, int64_t largest>
Values number_from(std::string_view option, std::string_view text) {
  return {Json(parse_count(option, text, largest, least))};
}
Values images(std::string_view option, std::string_view text) {
  Values values;
  for (const Extents& image : parse_image_axis(option, text)) values.emplace_back(to_string(image));
  return values;
}
Values file(std::string_view option, std::string_view text) {
  if (text.empty()) throw UserError("{} '': names no file", option);
  return {Json(text)};
}

constexpr Field on_axis(Field field, Axis axis) {
  field.axis = axis;
  return field;
}

constexpr Field needed(Field field, Presence presence) {
  field.presence = presence;
  return field;
}

constexpr Field headline(Field field) {
  field.headline = true;
  return field;
}

constexpr std::array kFields = {
    needed(Field{"schema", access<&R::schema>, FieldRole::environment}, Presence::always),
    needed(Field{"id", access<&R::id>, FieldRole::environment}, Presence::always),
    needed(Field{"time", access<&R::time>, FieldRole::environment}, Presence::measured),
    needed(Field{"kind", access<&R::kind>, FieldRole::subject}, Presence::always),
    Field{"run", access<&R::run>, FieldRole::environment},
    Field{"suite", access<&R::suite>, FieldRole::environment},
    Field{"command", access<&R::command>, FieldRole::environment},
    on_axis(needed(Field{"model", access<&R::model>, FieldRole::subject, Column::always, "model",
                         text<&R::model>},
                   Presence::always),
            {.parse = words, .help = "Names of 'tacho models'", .nesting = 0}),
    on_axis(
        needed(Field{"mode", access<&R::mode>, FieldRole::subject, Column::always, "mode", text<&R::mode>},
               Presence::always),
        {.parse = modes, .fallback = "infer", .help = "infer, train or both", .nesting = 2}),
    on_axis(
        Field{"engine", access<&R::engine>, FieldRole::means, Column::differing, "engine", text<&R::engine>},
        {.parse = words, .help = "Of those 'tacho system' lists; default: the first of them", .nesting = 3}),
    on_axis(
        Field{"device", access<&R::device>, FieldRole::means, Column::present, "device", text<&R::device>},
        {.parse = words,
         .fallback = "cpu",
         .help = "cpu, or cuda or cuda:1 where the engine finds a GPU",
         .nesting = 4}),
    Field{"gpu", access<&R::gpu>, FieldRole::environment},
    Field{"exchange", access<&R::exchange>, FieldRole::environment},
    on_axis(Field{"precision", access<&R::precision>, FieldRole::work, Column::differing, "precision",
                  text<&R::precision>},
            {.parse = words,
             .fallback = "f32",
             .help = "Of those that 'tacho system' lists for the engine",
             .nesting = 4}),
    on_axis(
        Field{"batch", count<&R::batch>, FieldRole::work, Column::always, "batch", whole<&R::batch>, true},
        {.parse = numbers<kLargestBatch>,
         .help = "Per device: 16,32 or 1-8 or 16-2048*2; default: 16, volumes 1",
         .nesting = 9}),
    Field{"batch_total", count<&R::batch_total>, FieldRole::work, Column::present, "total batch",
          whole<&R::batch_total>, true},
    on_axis(Field{"devices", count<&R::devices>, FieldRole::work, Column::differing, "devices",
                  whole<&R::devices>, true},
            {.parse = numbers<kMostDevices>,
             .help = "How many share the work; default: the launcher's ranks, without one 1",
             .nesting = 7}),
    on_axis(Field{"threads", count<&R::threads>, FieldRole::means, Column::differing, "threads",
                  whole<&R::threads>, true},
            {.parse = numbers<kMostThreads>,
             .help = "Per device; default: usable cores / devices",
             .nesting = 8}),
    Field{"nodes", count<&R::nodes>, FieldRole::work, Column::present, "nodes", whole<&R::nodes>, true},
    on_axis(
        Field{"parallel", access<&R::parallel>, FieldRole::work, Column::present, "parallel",
              text<&R::parallel>},
        {.parse = parallels,
         .help =
             "How devices share a pass: train allreduce; infer replicas, each with a batch of its own, or "
             "scatter, parts of one batch that is handed out and gathered; default: the first of them",
         .nesting = 6}),
    on_axis(Field{"batch_norm", access<&R::batch_norm>, FieldRole::means, Column::present, "batch norm",
                  text<&R::batch_norm>},
            {.parse = batch_norms,
             .fallback = "local",
             .help = "Of training: statistics of a device's own batch, local, or of all devices', sync",
             .nesting = 6}),
    on_axis(Field{"bucket_mib", count<&R::bucket_mib>, FieldRole::means, Column::differing, "bucket MiB",
                  whole<&R::bucket_mib>, true},
            {.parse = numbers<kMostBucketMib>,
             .fallback = "25",
             .help = "Of gradients that devices exchange in one go; the first has 1 MiB",
             .nesting = 6}),
    on_axis(
        Field{"image", access<&R::image>, FieldRole::work, Column::differing, "image", text<&R::image>, true},
        {.parse = images, .help = "224 or 224x160 or 40x216x216; default: the network's own", .nesting = 1}),
    on_axis(Field{"classes", count<&R::classes>, FieldRole::work},
            {.parse = number_from<1, kMostClasses>, .fallback = "1000", .help = "Of the classifiers"}),
    on_axis(Field{"warmup", access<&R::warmup>, FieldRole::protocol, Column::differing, "warm-up",
                  warmup_text, true},
            {.parse = number_from<0, kMostPasses>, .fallback = "5", .help = "Passes before the timed ones"}),
    on_axis(Field{"repeat", count<&R::repeat>, FieldRole::protocol, Column::differing, "repeat",
                  whole<&R::repeat>, true},
            {.parse = number_from<1, kMostPasses>, .fallback = "20", .help = "Timed passes"}),
    on_axis(Field{"seed", access<&R::seed>, FieldRole::means},
            {.parse = number_from<0, kLargestSeed>, .fallback = "0", .help = "Of weights and data"}),
    on_axis(Field{"weights", access<&R::weights>, FieldRole::protocol},
            {.parse = file, .help = "A safetensors file with torchvision's names; default: random"}),
    on_axis(
        Field{"kernel", access<&R::kernel>, FieldRole::means, Column::present, "kernel", text<&R::kernel>},
        {.parse = words,
         .help = "Of convolutions, where it can, such as winograd; default: the fastest, by measurement "
                 "(torch: channels_last)",
         .nesting = 5}),
    on_axis(
        Field{"autotune", access<&R::autotune>, FieldRole::means, Column::differing, "autotune",
              text<&R::autotune>},
        {.parse = switches,
         .fallback = "off",
         .help = "Of GPUs, on or off: on times cuDNN's convolutions in the first pass and keeps the fastest",
         .nesting = 5}),
    on_axis(
        Field{"memory", access<&R::memory>, FieldRole::means, Column::present, "memory", text<&R::memory>},
        {.parse = memories,
         .fallback = "normal",
         .help = "Normal or low: low computes activations and packed weights again rather than keep them",
         .nesting = 6}),
    Field{"data", access<&R::data>, FieldRole::means, Column::differing, "data", text<&R::data>},
    Field{"recipe", access<&R::recipe>, FieldRole::means, Column::differing, "recipe", text<&R::recipe>},
    Field{"optimizer", access<&R::optimizer>, FieldRole::means},
    Field{"learning_rate", access<&R::learning_rate>, FieldRole::means},
    Field{"momentum", access<&R::momentum>, FieldRole::means},
    Field{"weight_decay", access<&R::weight_decay>, FieldRole::means},
    Field{"schedule", access<&R::schedule>, FieldRole::means},
    Field{"warmup_epochs", access<&R::warmup_epochs>, FieldRole::means},
    Field{"label_smoothing", access<&R::label_smoothing>, FieldRole::means},
    Field{"dropout", access<&R::dropout>, FieldRole::means},
    Field{"augmentation", access<&R::augmentation>, FieldRole::means},
    Field{"targets", access<&R::targets>, FieldRole::means},
    Field{"shuffle", access<&R::shuffle>, FieldRole::means},
    Field{"subset", access<&R::subset>, FieldRole::means},
    Field{"planned_epochs", access<&R::planned_epochs>, FieldRole::means},
    Field{"planned_steps", access<&R::planned_steps>, FieldRole::means},
    Field{"time_includes", access<&R::time_includes>, FieldRole::protocol},
    Field{"interleaved", access<&R::interleaved>, FieldRole::protocol},
    Field{"samples_ms", access<&R::samples_ms>, FieldRole::figure},
    headline(Field{"median_ms", access<&R::median_ms>, FieldRole::figure, Column::present, "median ± MAD ms",
                   median_text, true}),
    Field{"mad_ms", access<&R::mad_ms>, FieldRole::figure},
    Field{"min_ms", access<&R::min_ms>, FieldRole::figure},
    headline(Field{"mean_ms", access<&R::mean_ms>, FieldRole::figure, Column::present, "mean ms",
                   published_mean_text, true}),
    Field{"median_low_ms", access<&R::median_low_ms>, FieldRole::figure},
    Field{"median_high_ms", access<&R::median_high_ms>, FieldRole::figure},
    Field{"p95_ms", access<&R::p95_ms>, FieldRole::figure},
    Field{"drift_percent", access<&R::drift_percent>, FieldRole::figure},
    Field{"outliers", access<&R::outliers>, FieldRole::figure},
    Field{"forward_ms", access<&R::forward_ms>, FieldRole::figure, Column::present, "forward ms",
          number<&R::forward_ms>, true},
    Field{"backward_ms", access<&R::backward_ms>, FieldRole::figure, Column::present, "backward ms",
          number<&R::backward_ms>, true},
    Field{"update_ms", access<&R::update_ms>, FieldRole::figure, Column::present, "update ms",
          number<&R::update_ms>, true},
    Field{"scatter_ms", access<&R::scatter_ms>, FieldRole::figure, Column::present, "scatter ms",
          number<&R::scatter_ms>, true},
    Field{"gather_ms", access<&R::gather_ms>, FieldRole::figure, Column::present, "gather ms",
          number<&R::gather_ms>, true},
    Field{"allreduce_ms", access<&R::allreduce_ms>, FieldRole::figure, Column::present, "all-reduce ms",
          number<&R::allreduce_ms>, true},
    Field{"exposed_allreduce_ms", access<&R::exposed_allreduce_ms>, FieldRole::figure, Column::present,
          "exposed ms", number<&R::exposed_allreduce_ms>, true},
    Field{"wait_ms", access<&R::wait_ms>, FieldRole::figure, Column::present, "wait ms", number<&R::wait_ms>,
          true},
    Field{"steps_left_out", count<&R::steps_left_out>, FieldRole::figure, Column::present, "left out",
          whole<&R::steps_left_out>, true},
    Field{"bytes_moved", access<&R::bytes_moved>, FieldRole::figure},
    Field{"lost_ms", access<&R::lost_ms>, FieldRole::figure, Column::present, "lost ms", lost_text},
    Field{"ranks", access<&R::ranks>, FieldRole::figure},
    Field{"buckets", access<&R::buckets>, FieldRole::figure},
    headline(Field{"images_per_s", access<&R::images_per_s>, FieldRole::figure, Column::present, "images/s",
                   number<&R::images_per_s>, true}),
    Field{"forward_images_per_s", access<&R::forward_images_per_s>, FieldRole::figure, Column::present,
          "forward images/s", number<&R::forward_images_per_s>, true},
    Field{"backward_images_per_s", access<&R::backward_images_per_s>, FieldRole::figure, Column::present,
          "backward images/s", number<&R::backward_images_per_s>, true},
    headline(Field{"speedup", access<&R::speedup>, FieldRole::figure, Column::present, "speed-up",
                   number<&R::speedup>, true}),
    Field{"flop_per_pass", access<&R::flop_per_pass>, FieldRole::figure},
    Field{"bytes_per_pass", access<&R::bytes_per_pass>, FieldRole::figure},
    Field{"gflops", access<&R::gflops>, FieldRole::figure, Column::present, "GFLOP/s", number<&R::gflops>,
          true},
    Field{"joules_per_image", access<&R::joules_per_image>, FieldRole::figure, Column::present, "J/image",
          number<&R::joules_per_image>, true},
    Field{"percent_of_peak", access<&R::percent_of_peak>, FieldRole::figure, Column::present, "% of peak",
          number<&R::percent_of_peak>, true},
    Field{"compile_ms", access<&R::compile_ms>, FieldRole::figure},
    Field{"peak_memory_mib", access<&R::peak_memory_mib>, FieldRole::figure, Column::present, "memory MiB",
          number<&R::peak_memory_mib>, true},
    Field{"plan_memory_mib", access<&R::plan_memory_mib>, FieldRole::figure},
    Field{"evaluation_plan_memory_mib", access<&R::evaluation_plan_memory_mib>, FieldRole::figure},
    Field{"phase_memory_mib", access<&R::phase_memory_mib>, FieldRole::figure},
    Field{"epochs", access<&R::epochs>, FieldRole::figure},
    Field{"epoch_count", access<&R::epoch_count>, FieldRole::work, Column::present, "epochs", epochs_text,
          true},
    Field{"iterations", access<&R::iterations>, FieldRole::figure},
    Field{"seconds", access<&R::seconds>, FieldRole::figure, Column::present, "total s",
          number<&R::seconds, 5>, true},
    headline(Field{"seconds_per_epoch", access<&R::seconds_per_epoch>, FieldRole::figure, Column::present,
                   "s/epoch", number<&R::seconds_per_epoch, 4>, true}),
    Field{"evaluation_seconds", access<&R::evaluation_seconds>, FieldRole::figure},
    Field{"wait_percent", access<&R::wait_percent>, FieldRole::figure, Column::present, "waiting for data %",
          number<&R::wait_percent, 2>, true},
    Field{"train_accuracy", access<&R::train_accuracy>, FieldRole::figure, Column::present, "train accuracy",
          number<&R::train_accuracy>, true},
    headline(Field{"test_accuracy", access<&R::test_accuracy>, FieldRole::figure, Column::present,
                   "test accuracy", number<&R::test_accuracy>, true}),
    headline(Field{"test_loss", access<&R::test_loss>, FieldRole::figure, Column::present, "test loss",
                   number<&R::test_loss, 4>, true}),
    Field{"constant_loss", access<&R::constant_loss>, FieldRole::figure, Column::present,
          "constant answer's loss", number<&R::constant_loss, 4>, true},
    Field{"boundary_f1", access<&R::boundary_f1>, FieldRole::figure, Column::present, "boundary F1",
          number<&R::boundary_f1>, true},
    Field{"target_accuracy", access<&R::target_accuracy>, FieldRole::protocol},
    Field{"seconds_to_target", access<&R::seconds_to_target>, FieldRole::figure, Column::present,
          "s to target", number<&R::seconds_to_target, 4>, true},
    headline(Field{"iterations_per_min", access<&R::iterations_per_min>, FieldRole::figure, Column::present,
                   "iterations/min", number<&R::iterations_per_min>, true}),
    headline(Field{"output_mvox_per_s", access<&R::output_mvox_per_s>, FieldRole::figure, Column::present,
                   "Mvox/s", number<&R::output_mvox_per_s>, true}),
    Field{"input_mvox_per_s", access<&R::input_mvox_per_s>, FieldRole::figure, Column::present,
          "Mvox/s with halo", number<&R::input_mvox_per_s>, true},
    Field{"block", access<&R::block>, FieldRole::means, Column::present, "block", text<&R::block>, true},
    Field{"halo", access<&R::halo>, FieldRole::work, Column::present, "halo", text<&R::halo>},
    Field{"border", access<&R::border>, FieldRole::work, Column::differing, "border", text<&R::border>},
    Field{"dtype", access<&R::dtype>, FieldRole::work, Column::differing, "dtype", text<&R::dtype>},
    Field{"compression", access<&R::compression>, FieldRole::means, Column::differing, "compression",
          text<&R::compression>},
    Field{"blocks", count<&R::blocks>, FieldRole::figure, Column::present, "blocks", whole<&R::blocks>, true},
    Field{"device_idle_percent", access<&R::device_idle_percent>, FieldRole::figure, Column::present,
          "network idle %", number<&R::device_idle_percent, 2>, true},
    Field{"halo_saved_percent", access<&R::halo_saved_percent>, FieldRole::figure, Column::present,
          "halo work saved %", number<&R::halo_saved_percent, 2>, true},
    Field{"bytes_read", access<&R::bytes_read>, FieldRole::figure},
    Field{"bytes_written", access<&R::bytes_written>, FieldRole::figure},
    Field{"input_wait_ms", access<&R::input_wait_ms>, FieldRole::figure},
    Field{"output_wait_ms", access<&R::output_wait_ms>, FieldRole::figure},
    Field{"reader_wait_ms", access<&R::reader_wait_ms>, FieldRole::figure},
    Field{"writer_wait_ms", access<&R::writer_wait_ms>, FieldRole::figure},
    Field{"slices", access<&R::slices>, FieldRole::figure},
    Field{"reference", access<&R::reference>, FieldRole::environment},
    Field{"source", access<&R::source>, FieldRole::environment},
    Field{"protocol", access<&R::protocol>, FieldRole::environment},
    Field{"known_error", access<&R::known_error>, FieldRole::environment, Column::present, "known error",
          text<&R::known_error>},
    Field{"correction", access<&R::correction>, FieldRole::environment, Column::present, "correction",
          text<&R::correction>},
    Field{"corrected", access<&R::corrected>, FieldRole::figure},
    Field{"extrapolated", access<&R::extrapolated>, FieldRole::figure},
    headline(needed(Field{"verdict", kVerdict, FieldRole::figure, Column::present, "verdict", verdict_text},
                    Presence::measured)),
    Field{"reason", kReason, FieldRole::figure, Column::present, "reason", reason_text},
    needed(Field{"system", kSystem, FieldRole::environment}, Presence::always),
};

}  // namespace

std::span<const Field> fields() { return kFields; }

std::string option_of(const Field& field) {
  std::string option = fmt::format("--{}", field.name);
  std::ranges::replace(option, '_', '-');
  return option;
}

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : &*found;
}

void set_fields(const Json& values, Record& record) {
  for (const auto& [name, value] : values.items()) {
    const Field* field = find_field(name);
    if (field == nullptr) throw UserError("'{}' is no field of a record", name);
    try {
      field->access.set(record, value);
    } catch (const UserError& error) {
      throw UserError("'{}' {}", name, error.what());
    }
  }
}

Importance importance_of(const Field& field) {
  if (field.headline) return Importance::much;
  switch (field.role) {
    case FieldRole::subject: return Importance::most;
    case FieldRole::work:
    case FieldRole::means: return Importance::much;
    case FieldRole::figure: return Importance::some;
    case FieldRole::protocol:
    case FieldRole::environment: return Importance::little;
  }
  return Importance::little;
}

bool agree(const Record& a, const Record& b, std::initializer_list<FieldRole> roles) {
  return std::ranges::all_of(kFields, [&](const Field& field) {
    const bool matters = std::ranges::find(roles, field.role) != roles.end();
    return !matters || field.access.get(a) == field.access.get(b);
  });
}

}  // namespace tacho
