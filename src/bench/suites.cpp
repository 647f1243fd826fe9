#include "bench/suites.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "bench/sweep.h"
#include "engine/engines.h"

namespace tacho {
namespace {

constexpr int kLeastWarmup = 1;
constexpr int kLeastRepeat = 3;

std::vector<Case> quick_cases(int usable_cores) {
  const Sweep sweep = {.models = {"squeezenet1_1", "resnet18", "resnet50", "unet3d_lite"},
                       .modes = {Mode::infer, Mode::train},
                       .engines = {std::string(engines().front()->name())},
                       .shared = {.warmup = 3, .repeat = 8}};
  return expand(sweep, usable_cores);
}

std::vector<Case> zoo_cases(int usable_cores) {
  const Sweep sweep = {
      .models = {"squeezenet1_1", "resnet18", "squeezenet1_0", "resnet34", "resnet50", "densenet121", "vgg16",
                 "densenet169", "vgg19", "resnet101", "densenet201", "resnet152", "densenet161"},
      .modes = {Mode::infer, Mode::train},
      .engines = {std::string(engines().front()->name())},
      .batches = {16},
      .images = {{224}}};
  return expand(sweep, usable_cores);
}

int scaled_passes(int passes, double scale, int least) {
  return std::min(passes, std::max(least, static_cast<int>(std::lround(passes * scale))));
}

constexpr std::array kSuites = {
    Suite{"zoo", "13 networks, training and inference, beside the published DGX-1 table", zoo_cases},
    Suite{"quick", "a first look in about two minutes", quick_cases},
};

}  // namespace

std::vector<Case> scaled(std::vector<Case> cells, double scale) {
  for (Case& cell : cells) {
    cell.warmup = scaled_passes(cell.warmup, scale, kLeastWarmup);
    cell.repeat = scaled_passes(cell.repeat, scale, kLeastRepeat);
  }
  return cells;
}

std::span<const Suite> suites() { return kSuites; }

const Suite& find_suite(std::string_view name) {
  std::string known;
  for (const Suite& suite : kSuites) {
    if (suite.name == name) return suite;
    known += (known.empty() ? "" : ", ") + std::string(suite.name);
  }
  throw UserError("suite '{}' is unknown; there are {}", name, known);
}

}  // namespace tacho
