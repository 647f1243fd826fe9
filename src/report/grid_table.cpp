#include "report/grid_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/memory.h"
#include "report/published.h"
#include "results/format.h"
#include "results/speedup.h"

namespace tacho {
namespace {

constexpr int kPartDigits = 3;

auto row_identity(const Record& r) {
  return std::tie(r.model, r.reference, r.system.name, r.engine, r.devices);
}

std::optional<double> pass_ms(const Record& record) {
  return record.median_ms ? record.median_ms : record.mean_ms;
}

std::string time_text(const Record& record) {
  const auto ms = pass_ms(record);
  if (!ms) return std::string(name_of(record.judgement));
  const bool doubtful = record.reference.empty() && record.judgement.verdict != Verdict::valid;
  return (doubtful ? "~" : "") + figure_text(record, "mean_ms", ms, kFigureDigits);
}

// The batches that are columns, the smallest first.
std::vector<int64_t> total_batches(std::span<const Record> rows) {
  std::set<int64_t> totals;
  for (const Record& record : rows) totals.insert(images_per_pass(record));
  return {totals.begin(), totals.end()};
}

std::vector<Record> by_devices(std::span<const Record> records) {
  std::vector<Record> sorted(records.begin(), records.end());
  std::ranges::stable_sort(
      sorted, {}, [](const Record& record) { return std::pair(record.devices, images_per_pass(record)); });
  return sorted;
}

// One of each row that the table has, in its order.
std::vector<Record> rows_of(std::span<const Record> records) {
  std::vector<Record> rows;
  for (const Record& record : records) {
    const auto same = [&](const Record& row) { return row_identity(row) == row_identity(record); };
    if (std::ranges::none_of(rows, same)) rows.push_back(record);
  }
  return rows;
}

// The last one, should a cell have been measured again.
std::string cell_text(const Record& row, int64_t total, std::span<const Record> records) {
  std::string text;
  for (const Record& record : records) {
    if (row_identity(record) == row_identity(row) && images_per_pass(record) == total)
      text = time_text(record);
  }
  return text;
}

std::string part_text(const std::optional<double>& ms) {
  return ms ? format_significant(*ms, kPartDigits) : "";
}

std::optional<double> sum_of_parts_ms(const Record& r) {
  if (!r.forward_ms) return std::nullopt;
  return r.scatter_ms.value_or(0) + *r.forward_ms + r.wait_ms.value_or(0) + r.gather_ms.value_or(0);
}

std::string moved_text(const Record& record) {
  if (!record.bytes_moved) return "";
  return format_significant(static_cast<double>(*record.bytes_moved) / kMib, kPartDigits);
}

std::vector<std::string> parts_row(const Record& r, std::span<const Record> records) {
  const Record* one = on_one_device(r, records, Held::batch_in_total);
  return {std::to_string(r.devices),
          std::to_string(images_per_pass(r)),
          part_text(r.scatter_ms),
          part_text(r.forward_ms),
          part_text(r.wait_ms),
          part_text(r.gather_ms),
          part_text(sum_of_parts_ms(r)),
          part_text(pass_ms(r)),
          moved_text(r),
          one == nullptr ? "" : part_text(speedup_of(r, *one)),
          note_on(r, {})};
}

}  // namespace

Grid grid_table(std::span<const Record> records, std::span<const Record> published) {
  std::vector<Record> all = by_devices(records);
  std::ranges::copy(by_devices(published), std::back_inserter(all));
  Grid grid = {.columns = {{"Network", false, Importance::much},
                           {"System", false, Importance::most},
                           {"Engine", false, Importance::little},
                           {"Devices", true, Importance::most}},
               .rows = {}};
  const std::vector<int64_t> totals = total_batches(all);
  for (const int64_t total : totals) grid.columns.push_back({std::to_string(total), true});
  for (const Record& row : rows_of(all)) {
    grid.rows.push_back({row.model, row.system.name, row.engine, std::to_string(row.devices)});
    for (const int64_t total : totals) grid.rows.back().push_back(cell_text(row, total, all));
  }
  return grid;
}

Grid grid_parts_table(std::span<const Record> records) {
  Grid grid = {.columns = {{"Devices", true, Importance::most},
                           {"Total batch", true, Importance::most},
                           {"Scatter ms", true, Importance::much},
                           {"Forward ms", true, Importance::much},
                           {"Wait ms", true, Importance::much},
                           {"Gather ms", true, Importance::much},
                           {"Sum ms", true},
                           {"Pass ms", true, Importance::most},
                           {"Moved MiB", true, Importance::much},
                           {"Speed-up", true, Importance::much},
                           {"Note", false, Importance::much}},
               .rows = {}};
  for (const Record& record : by_devices(records)) grid.rows.push_back(parts_row(record, records));
  return grid;
}

}  // namespace tacho
