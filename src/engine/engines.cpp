#include "engine/engines.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/user_folder.h"
#include "engine/native/native_engine.h"
#include "engine/null/null_engine.h"
#include "engine/reference/reference_engine.h"
#include "engine/torch/torch_engine.h"

namespace tacho {

std::vector<const Engine*> engines() {
  std::vector<const Engine*> all = {&native_engine(), &reference_engine(), &null_engine()};
  if (const Engine* torch = torch_engine()) all.insert(all.begin() + 1, torch);
  return all;
}

const Engine& find_engine(std::string_view name) {
  std::string known;
  for (const Engine* engine : engines()) {
    if (engine->name() == name) return *engine;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", engine->name());
  }
  if (name == kTorch)
    throw UserError(
        "engine torch: this tacho has no libtorch; scripts/install-dependencies torch, then build it");
  throw UserError("engine '{}' is unknown; this build has {}", name, known);
}

const Engine& find_computing_engine(std::string_view name) {
  const Engine& engine = find_engine(name);
  if (engine.computes()) return engine;
  std::vector<std::string_view> computing;
  for (const Engine* other : engines()) {
    if (other->computes()) computing.push_back(other->name());
  }
  throw UserError("engine {} computes nothing: use {}", name, fmt::join(computing, " or "));
}

std::string default_engine() { return std::string(engines().front()->name()); }

std::filesystem::path default_kernel_cache() {
  const auto folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder ? *folder / "tacho/kernels.tsv" : std::filesystem::path();
}

}  // namespace tacho
