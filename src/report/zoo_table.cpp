#include "report/zoo_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "report/pairing.h"
#include "results/format.h"

namespace tacho {
namespace {

const Record* find(std::span<const Record> records, std::string_view model, std::string_view mode) {
  const auto found =
      std::ranges::find_if(records, [&](const Record& r) { return r.model == model && r.mode == mode; });
  return found == records.end() ? nullptr : &*found;
}

std::optional<double> time_ms(const Record* record) {
  if (record == nullptr) return std::nullopt;
  if (record->mode == "train" && record->median_ms) return median_without_update_ms(*record);
  return record->median_ms ? record->median_ms : record->mean_ms;
}

std::vector<std::string> models_by_training_time(std::span<const Record> records) {
  std::vector<std::string> models;
  for (const Record& record : records) {
    if (std::ranges::find(models, record.model) == models.end()) models.push_back(record.model);
  }
  std::ranges::stable_sort(models, {}, [&](const std::string& model) {
    return time_ms(find(records, model, "train")).value_or(std::numeric_limits<double>::infinity());
  });
  return models;
}

std::string time_text(const Record* record) {
  const auto time = time_ms(record);
  if (time) {
    if (!record->median_ms) return fmt::format("{}ms", *time);  // published: digit for digit
    const bool doubtful = record->judgement.verdict != Verdict::valid;
    return fmt::format("{}{}ms", doubtful ? "~" : "", format_significant(*time, kFigureDigits));
  }
  return record == nullptr ? "" : std::string(name_of(record->judgement));
}

std::string ratio_text(const Record* ours, const Record* theirs) {
  const auto our_time = time_ms(ours), their_time = time_ms(theirs);
  return our_time && their_time ? format_significant(*our_time / *their_time, kRatioDigits) : "";
}

}  // namespace

Grid zoo_table(std::span<const Record> records, std::span<const Record> published) {
  const std::string theirs = published.empty() ? "published" : published[0].system.name;
  Grid grid = {.columns = {{"Mode"}}, .rows = {}};
  for (const auto& [mode, title] : {std::pair{"train", "Training"}, std::pair{"infer", "Inference"}}) {
    std::vector<std::string> own = {title}, other = {fmt::format("{}, {}", title, theirs)},
                             ratio = {fmt::format("times that of {}", theirs)};
    for (const std::string& model : models_by_training_time(records)) {
      const Record *ours = find(records, model, mode), *published_one = find(published, model, mode);
      own.push_back(time_text(ours));
      other.push_back(time_text(published_one));
      ratio.push_back(ratio_text(ours, published_one));
    }
    grid.rows.insert(grid.rows.end(), {own, other, ratio});
  }
  for (const std::string& model : models_by_training_time(records)) grid.columns.push_back({model, true});
  return grid;
}

}  // namespace tacho
