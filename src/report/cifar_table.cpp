#include "report/cifar_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/grouped.h"
#include "report/published.h"
#include "results/correction.h"
#include "results/format.h"
#include "results/speedup.h"

namespace tacho {
namespace {

std::string figure(const Record& record, const char* field, const std::optional<double>& value) {
  return figure_text(record, field, value, kFigureDigits);
}

std::vector<std::string> row_of(const Record& r) {
  const std::string note = r.reference.empty() ? note_on(r, {}) : "";
  return {r.model,
          r.image,
          r.system.name,
          note.empty() ? r.engine : fmt::format("{}: {}", r.engine, note),
          count_text(r.devices),
          count_text(r.batch),
          count_text(r.epoch_count.value_or(0)),
          figure(r, "seconds", r.seconds),
          figure(r, "seconds_per_epoch", r.seconds_per_epoch),
          figure(r, "images_per_s", r.images_per_s),
          figure(r, "train_accuracy", r.train_accuracy),
          figure(r, "test_accuracy", r.test_accuracy),
          figure(r, "peak_memory_mib", r.peak_memory_mib)};
}

std::optional<double> epochs_per_s(const Record& record) {
  const auto seconds = corrected_figure(record, "seconds_per_epoch", record.seconds_per_epoch);
  return seconds && *seconds > 0 ? std::optional(1 / *seconds) : std::nullopt;
}

// Some published tables have times and no throughput.
std::string speedup_text(const Record& record, std::span<const Record> records) {
  const Record* one = on_one_device(record, records, Held::batch_per_device);
  if (one == nullptr) return "";
  auto speedup = speedup_of(record, *one);
  if (!speedup) speedup = speedup_of(record, *one, epochs_per_s);
  return speedup ? format_significant(*speedup, kRatioDigits) : "";
}

bool is_as_large_as_one_of(std::span<const Record> own, const Record& published) {
  return std::ranges::any_of(own, [&](const Record& r) { return r.devices == published.devices; });
}

std::vector<Record> by_network(std::span<const Record> records, std::span<const Record> published) {
  std::vector<Record> rows;
  for (const std::vector<Record>& own : grouped(records, &Record::model)) {
    for (std::vector<Record>& engine : grouped(own, &Record::engine)) {
      std::ranges::stable_sort(engine, {}, &Record::devices);
      rows.insert(rows.end(), engine.begin(), engine.end());
    }
    std::ranges::copy_if(published, std::back_inserter(rows), [&](const Record& r) {
      return r.model == own[0].model && is_as_large_as_one_of(own, r);
    });
  }
  return rows;
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
  const std::vector<Record> rows = by_network(records, published);
  for (const Record& record : rows) grid.rows.push_back(row_of(record));
  if (std::ranges::none_of(records, [](const Record& r) { return r.devices > 1; })) return grid;
  grid.columns.push_back({"Speed-up", true, Importance::much});
  for (size_t i = 0; i < rows.size(); ++i) {
    // A published run on one device may be left out of the rows.
    grid.rows[i].push_back(speedup_text(rows[i], rows[i].reference.empty() ? records : published));
  }
  return grid;
}

}  // namespace tacho
