#include "report/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "results/format.h"

namespace tacho {
namespace {

// One record of each known error, in the order of the records.
std::vector<const Record*> erroneous(std::span<const Record> published) {
  std::vector<const Record*> found;
  for (const Record& record : published) {
    if (!record.known_error.empty() &&
        std::ranges::find(found, record.known_error, &Record::known_error) == found.end())
      found.push_back(&record);
  }
  return found;
}

}  // namespace

std::string figure_text(const Record& record, const std::string& field, const std::optional<double>& value,
                        int digits) {
  if (!value) return "";
  if (record.reference.empty()) return format_significant(*value, digits);
  const auto corrected = record.corrected.find(field);
  if (corrected == record.corrected.end()) return fmt::format("{}", *value);
  return fmt::format("{} ({})", *value, corrected->second);
}

std::string count_text(int64_t count) { return count > 0 ? std::to_string(count) : ""; }

std::string note_on(const Record& record, std::span<const Record> published) {
  if (record.reference.empty())
    return record.judgement.verdict == Verdict::valid ? "" : std::string(name_of(record.judgement));
  if (record.known_error.empty()) return "";
  const auto errors = erroneous(published);
  const auto own = std::ranges::find(errors, record.known_error, &Record::known_error);
  return fmt::format("known error {}", own - errors.begin() + 1);
}

std::string known_errors(std::span<const Record> published) {
  std::string lines;
  int number = 0;
  for (const Record* record : erroneous(published)) {
    lines += fmt::format("known error {}, {}: {} {}\n", ++number, record->reference, record->known_error,
                         record->correction);
  }
  return lines;
}

}  // namespace tacho
