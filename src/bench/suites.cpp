#include "bench/suites.h"

#include <array>

#include "base/error.h"
#include "bench/sweep.h"
#include "engine/engines.h"

namespace tacho {
namespace {

std::vector<Case> quick_cases(int usable_cores) {
  const Sweep sweep = {.models = {"squeezenet1_1", "resnet18", "resnet50", "unet3d_lite"},
                       .modes = {Mode::infer, Mode::train},
                       .engines = {std::string(engines().front()->name())},
                       .shared = {.warmup = 3, .repeat = 8}};
  return expand(sweep, usable_cores);
}

constexpr std::array kSuites = {
    Suite{"quick", "a first look in about two minutes", quick_cases},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

const Suite& find_suite(std::string_view name) {
  std::string known;
  for (const Suite& suite : kSuites) {
    if (suite.name == name) return suite;
    known += (known.empty() ? "" : ", ") + std::string(suite.name);
  }
  throw UserError("suite '{}' is unknown; there is {}", name, known);
}

}  // namespace tacho
