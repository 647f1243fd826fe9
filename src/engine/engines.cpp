#include "engine/engines.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/user_folder.h"
#include "engine/native/native_engine.h"
#include "engine/null/null_engine.h"
#include "engine/reference/reference_engine.h"

namespace tacho {

std::vector<const Engine*> engines() { return {&native_engine(), &reference_engine(), &null_engine()}; }

const Engine& find_engine(std::string_view name) {
  std::string known;
  for (const Engine* engine : engines()) {
    if (engine->name() == name) return *engine;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", engine->name());
  }
  throw UserError("engine '{}' is unknown; this build has {}", name, known);
}

void check_choices(const Engine& engine, const std::string& kernel, bool low_memory) {
  const std::vector<std::string> kernels = engine.kernels();
  if (!kernel.empty() && std::ranges::find(kernels, kernel) == kernels.end()) {
    if (kernels.empty()) throw UserError("--kernel: engine {} has no choice of kernels", engine.name());
    throw UserError("--kernel '{}' is unknown; engine {} has {}", kernel, engine.name(),
                    fmt::join(kernels, ", "));
  }
  if (const auto reason = engine.why_no_low_memory(); reason && low_memory)
    throw UserError("--memory low: engine {} {}", engine.name(), *reason);
}

std::filesystem::path default_kernel_cache() {
  const auto folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder ? *folder / "tacho/kernels.tsv" : std::filesystem::path();
}

}  // namespace tacho
