#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/shape.h"
#include "engine/execution.h"

namespace tacho {

enum class Mode { infer, train };

std::string_view name_of(Mode mode);

// Everything that says what one cell of a sweep measures.
struct Case {
  std::string model = {};
  Mode mode = Mode::infer;
  Execution execution = {};
  int64_t batch = 1;  // per device
  Extents image = {};
  int64_t classes = 1000;
  int warmup = 5;
  int repeat = 20;
  uint64_t seed = 0;
  std::optional<std::filesystem::path> weights = {};  // random where absent
};

// Its values, those of its execution among them, under the names of the record's fields, and the reverse;
// false where it has no such field.
Json fields_of(const Case& cell);
bool set_field(Case& cell, std::string_view name, const Json& value);

}  // namespace tacho
