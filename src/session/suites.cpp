#include "session/suites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "engine/engines.h"
#include "session/sweep.h"

namespace tacho {
namespace {

constexpr int kLeastWarmup = 1;
constexpr int kLeastRepeat = 3;

std::vector<Case> quick_cases(int usable_cores) {
  return expand({{"model", "squeezenet1_1,resnet18,resnet50,unet3d_lite"},
                 {"mode", "infer,train"},
                 {"warmup", "3"},
                 {"repeat", "8"}},
                usable_cores);
}

std::vector<Case> zoo_cases(int usable_cores) {
  return expand({{"model",
                  "squeezenet1_1,resnet18,squeezenet1_0,resnet34,resnet50,densenet121,vgg16,densenet169,"
                  "vgg19,resnet101,densenet201,resnet152,densenet161"},
                 {"mode", "infer,train"},
                 {"batch", "16"},
                 {"image", "224"}},
                usable_cores);
}

std::vector<std::string> training_engines() {
  std::vector<std::string> names;
  for (const Engine* engine : engines()) {
    if (engine->computes() && engine->is_fast()) names.emplace_back(engine->name());
  }
  return names;
}

Recipe cifar_training(const char* model, int64_t side, int64_t epochs, const std::string& engine,
                      int threads) {
  Recipe recipe;
  recipe.model = model;
  recipe.execution.engine = engine;
  recipe.execution.threads = threads;
  recipe.image = {side, side};
  recipe.epochs = epochs;
  recipe.update = default_adam(recipe.batch);
  recipe.seed = 1337;
  return recipe;
}

std::vector<Recipe> cifar_trainings(int usable_cores) {
  std::vector<Recipe> trainings;
  for (const auto& [model, side, epochs] :
       {std::tuple{"resnet50", 32, 10}, std::tuple{"inception_v3", 299, 5}}) {
    for (const std::string& engine : training_engines()) {
      trainings.push_back(cifar_training(model, side, epochs, engine, usable_cores));
    }
  }
  return trainings;
}

int scaled_passes(int passes, double scale, int least) {
  return std::min(passes, std::max(least, static_cast<int>(std::lround(passes * scale))));
}

constexpr std::array kSuites = {
    Suite{"zoo", "13 networks, training and inference, beside the published DGX-1 table", zoo_cases},
    Suite{"cifar", "ResNet50 and Inception v3 learn CIFAR-10, beside the published Keras table", nullptr,
          cifar_trainings},
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

std::vector<Recipe> scaled(std::vector<Recipe> trainings, double scale, int64_t images) {
  if (scale >= 1) return trainings;
  for (Recipe& recipe : trainings) {
    const int64_t least = std::min(images, 2 * recipe.batch);
    recipe.subset = std::max(least, static_cast<int64_t>(std::llround(scale * static_cast<double>(images))));
  }
  return trainings;
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
