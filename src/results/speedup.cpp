#include "results/speedup.h"

#include <algorithm>
#include <array>

#include "base/json_values.h"
#include "results/correction.h"
#include "results/fields.h"

namespace tacho {
namespace {

constexpr std::string_view kScatter = "scatter";
// Of the fields that say what was done, those that say how it is shared out.
constexpr std::array<std::string_view, 5> kSharedOut = {"devices", "nodes", "batch", "batch_total",
                                                        "parallel"};

std::optional<double> rate_by(const Record& record, const std::optional<double>& ms) {
  const int64_t images = images_per_pass(record);
  if (!ms || *ms <= 0 || images == 0) return std::nullopt;
  return 1e3 * static_cast<double>(images) / *ms;
}

bool may_be_compared(const Record& record) {
  return has_figures(record.judgement) && record.judgement.verdict != Verdict::oversubscribed;
}

bool is_shared_out(const Field& field) {
  return std::ranges::find(kSharedOut, field.name) != kSharedOut.end();
}

bool same_work(const Record& a, const Record& b) {
  return std::ranges::all_of(fields(), [&](const Field& field) {
    const bool matters = field.role == FieldRole::subject || field.role == FieldRole::work;
    return !matters || is_shared_out(field) || field.access.get(a) == field.access.get(b);
  });
}

bool same_batch(const Record& a, const Record& b, Held held) {
  return held == Held::batch_per_device ? a.batch == b.batch : images_per_pass(a) == images_per_pass(b);
}

bool same_device(const Record& a, const Record& b) {
  return a.reference == b.reference && a.system.name == b.system.name && a.engine == b.engine &&
         a.threads == b.threads;
}

// A device alone shares nothing, but may be handed its batch as the others are.
bool same_handing_out(const Record& record, const Record& one_device) {
  return (record.parallel == kScatter) == (one_device.parallel == kScatter);
}

std::ptrdiff_t means_in_common(const Record& a, const Record& b) {
  return std::ranges::count_if(fields(), [&](const Field& field) {
    return field.role == FieldRole::means && field.access.get(a) == field.access.get(b);
  });
}

}  // namespace

int64_t images_per_pass(const Record& record) {
  return record.batch_total > 0 ? record.batch_total : record.batch * std::max(record.devices, 1);
}

std::optional<double> overall_rate(const Record& record) {
  return corrected_figure(record, "images_per_s", record.images_per_s);
}

std::optional<double> forward_rate(const Record& record) {
  return record.forward_ms ? rate_by(record, record.forward_ms) : record.forward_images_per_s;
}

std::optional<double> backward_rate(const Record& record) {
  if (!record.backward_ms) return record.backward_images_per_s;
  return rate_by(record, *record.backward_ms + record.exposed_allreduce_ms.value_or(0) +
                             record.wait_ms.value_or(0) + record.update_ms.value_or(0));
}

std::optional<double> speedup_of(const Record& record, const Record& one_device, Rate& rate) {
  if (!may_be_compared(record) || !may_be_compared(one_device)) return std::nullopt;
  const auto all = rate(record), one = rate(one_device);
  return all && one && *one > 0 ? std::optional(*all / *one) : std::nullopt;
}

const Record* on_one_device(const Record& record, std::span<const Record> records, Held held) {
  const Record* best = nullptr;
  for (const Record& other : records) {
    const bool fits = other.devices == 1 && other.judgement.verdict != Verdict::simulated &&
                      same_work(record, other) && same_batch(record, other, held) &&
                      same_device(record, other) && same_handing_out(record, other);
    if (fits && (best == nullptr || means_in_common(record, other) >= means_in_common(record, *best)))
      best = &other;
  }
  return best;
}

}  // namespace tacho
