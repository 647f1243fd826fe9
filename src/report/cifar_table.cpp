#include "report/cifar_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/format.h"

namespace tacho {
namespace {

constexpr int kDigits = 4;

std::string figure(const Record& record, const char* field, const std::optional<double>& value) {
  if (!value) return "";
  if (record.reference.empty()) return format_significant(*value, kDigits);
  const auto corrected = record.corrected.find(field);
  if (corrected == record.corrected.end()) return fmt::format("{}", *value);
  return fmt::format("{} ({})", *value, corrected->second);
}

std::string count(int64_t value) { return value > 0 ? std::to_string(value) : ""; }

std::vector<std::string> row_of(const Record& r) {
  const bool failed = r.reference.empty() && r.epochs.empty();
  return {r.model,
          r.image,
          r.system.name,
          failed ? fmt::format("{}: {}", r.engine, name_of(r.judgement)) : r.engine,
          count(r.devices),
          count(r.batch),
          count(r.epoch_count.value_or(0)),
          figure(r, "seconds", r.seconds),
          figure(r, "seconds_per_epoch", r.seconds_per_epoch),
          figure(r, "images_per_s", r.images_per_s),
          figure(r, "train_accuracy", r.train_accuracy),
          figure(r, "test_accuracy", r.test_accuracy),
          figure(r, "peak_memory_mib", r.peak_memory_mib)};
}

bool belongs_to(const Record& published, std::span<const Record> own) {
  return std::ranges::any_of(own, [&](const Record& r) { return r.devices == published.devices; });
}

}  // namespace

Grid cifar_table(std::span<const Record> records, std::span<const Record> published) {
  Grid grid = {.columns = {{"Network", false, Importance::most},
                           {"Image", true},
                           {"System", false, Importance::most},
                           {"Engine"},
                           {"Devices", true},
                           {"Batch", true},
                           {"Epochs", true},
                           {"Training time s", true, Importance::much},
                           {"Time/epoch s", true},
                           {"Images/s", true},
                           {"Training accuracy", true},
                           {"Test accuracy", true, Importance::much},
                           {"Memory MiB", true}},
               .rows = {}};
  std::vector<std::string> models;
  for (const Record& record : records) {
    if (std::ranges::find(models, record.model) == models.end()) models.push_back(record.model);
  }
  for (const std::string& model : models) {
    std::vector<Record> own;
    std::ranges::copy_if(records, std::back_inserter(own), [&](const Record& r) { return r.model == model; });
    for (const Record& record : own) grid.rows.push_back(row_of(record));
    for (const Record& record : published) {
      if (record.model == model && belongs_to(record, own)) grid.rows.push_back(row_of(record));
    }
  }
  return grid;
}

}  // namespace tacho
