#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "results/record.h"

namespace tacho {

// A record that cannot be read.
struct UnreadRecord {
  std::string name = {};  // for messages: its id, or its place in a file
  std::string reason = {};
  bool newer = false;     // only a newer program understands it: handed on as it is
  std::string json = {};  // of a newer one, whole
};

struct RecordList {
  std::vector<Record> records = {};
  std::vector<UnreadRecord> unread = {};
};

// Puts one record where it belongs; `json` may be a text that could not be parsed.
void take_record(const Json& json, std::string name, RecordList& list);

// Throws UserError where there are records, and none of them can be used by this program or a newer one.
void check_useful(const RecordList& list, std::string_view source);

// The records of a text in --format json or jsonl. Throws UserError that names `source` where it is none, or
// holds only records that nobody can use.
RecordList parse_records(std::string_view text, std::string_view source);

// What there is to say of unread records of `source`, in lines; `fate` is what happens to them.
std::vector<std::string> notes_of(std::span<const UnreadRecord> unread, std::string_view source,
                                  std::string_view fate);

}  // namespace tacho
