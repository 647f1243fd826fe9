#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/shape.h"

namespace tacho {

enum class Mode { infer, train };

std::string_view name_of(Mode mode);

// Everything that says what one cell of a sweep measures.
struct Case {
  std::string model = {};
  Mode mode = Mode::infer;
  std::string engine = {};
  int64_t batch = 1;  // per device
  int devices = 1;
  int threads = 1;  // per device
  Extents image = {};
  int64_t classes = 1000;
  int warmup = 5;
  int repeat = 20;
  uint64_t seed = 0;
  std::optional<std::filesystem::path> weights = {};  // random where absent
  bool low_memory = false;                            // see CompileOptions
  std::string kernel = {};                            // of Engine::kernels(); empty: the fastest
  std::filesystem::path kernel_cache = {};            // see CompileOptions; says nothing about the case
};

}  // namespace tacho
