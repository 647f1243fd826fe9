#include "results/record_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "results/record_json.h"

namespace tacho {
namespace {

constexpr int kDeepest = 100;  // a record needs four; whoever copies a million runs out of stack

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > kDeepest) return true;
  }
  return false;
}

bool is_record(const Json& line) { return line.is_object() && line.contains("schema"); }

std::vector<Json> objects_of(std::string_view text, std::string_view source) {
  if (is_too_deep(text)) throw UserError("{}: is nested more than {} levels deep", source, kDeepest);
  Json whole = parse_json(text);
  if (whole.is_array()) return {whole.begin(), whole.end()};
  if (whole.is_object()) return {std::move(whole)};
  std::vector<Json> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(parse_json(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (lines.empty()) throw UserError("{}: holds no record", source);
  // The lines of an array that is cut off are no records either.
  if (std::ranges::none_of(lines, is_record)) {
    throw UserError("{}: is not JSON, or is cut off; a file of --format json or jsonl was expected", source);
  }
  return lines;
}

}  // namespace

void take_record(const Json& json, std::string name, RecordList& list) {
  try {
    if (json.is_discarded()) throw UserError("is not JSON, or is cut off");
    list.records.push_back(record_from_json(json));
  } catch (const NewerRecord& error) {
    list.unread.push_back(
        {.name = std::move(name), .reason = error.what(), .newer = true, .json = to_text(json)});
  } catch (const UserError& error) {
    list.unread.push_back({.name = std::move(name), .reason = error.what()});
  }
}

RecordList parse_records(std::string_view text, std::string_view source) {
  const std::vector<Json> objects = objects_of(text, source);
  RecordList list;
  for (size_t i = 0; i < objects.size(); ++i) take_record(objects[i], fmt::format("record {}", i + 1), list);
  check_useful(list, source);
  return list;
}

void check_useful(const RecordList& list, std::string_view source) {
  const bool useful = !list.records.empty() || std::ranges::any_of(list.unread, &UnreadRecord::newer);
  if (useful || list.unread.empty()) return;
  throw UserError("{}: {} {}", source, list.unread.front().name, list.unread.front().reason);
}

std::vector<std::string> notes_of(std::span<const UnreadRecord> unread, std::string_view source,
                                  std::string_view fate) {
  std::vector<std::string> notes;
  for (auto first = unread.begin(); first != unread.end(); ++first) {
    const auto alike = [&](const UnreadRecord& other) { return other.reason == first->reason; };
    if (std::any_of(unread.begin(), first, alike)) continue;
    const auto count = std::count_if(first, unread.end(), alike);
    const std::string more = count == 1 ? "" : fmt::format(" (and {} more)", count - 1);
    notes.push_back(fmt::format("{} record{} of {} cannot be read: {}{} {}; {} {}", count,
                                count == 1 ? "" : "s", source, first->name, more, first->reason,
                                count == 1 ? "it is" : "they are", fate));
  }
  return notes;
}

}  // namespace tacho
