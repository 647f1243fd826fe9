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
  int64_t batch = 1;        // per device; the largest where batch_total does not divide
  int64_t batch_total = 0;  // instead, of a batch that is scattered: shared out as evenly as it goes
  Extents image = {};
  int64_t classes = 1000;
  int warmup = 5;
  int repeat = 20;
  uint64_t seed = 0;
  std::optional<std::filesystem::path> weights = {};  // random where absent
};

inline int64_t images_per_pass(const Case& cell) {
  return cell.batch_total > 0 ? cell.batch_total : cell.batch * cell.execution.devices;
}

// Whether both compute the same numbers from the same weights, by whatever means: engine, threads, kernels.
bool same_work(const Case& a, const Case& b);

// The cell as one of its devices computes it.
Case part_of(const Case& cell, int rank);

// Its values, those of its execution among them, under the names of the record's fields, and the reverse;
// false where it has no such field.
Json fields_of(const Case& cell);
bool set_field(Case& cell, std::string_view name, const Json& value);

}  // namespace tacho
