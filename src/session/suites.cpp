#include "session/suites.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
#include "engine/engines.h"
#include "session/sweep.h"

namespace tacho {
namespace {

constexpr int kLeastWarmup = 1;
constexpr int kLeastRepeat = 3;

std::vector<Case> quick_cases(const SuiteMachine& machine) {
  return expand({{"model", "squeezenet1_1,resnet18,resnet50,unet3d_lite"},
                 {"mode", "infer,train"},
                 {"warmup", "3"},
                 {"repeat", "8"}},
                machine.threads);
}

std::vector<Case> zoo_cases(const SuiteMachine& machine) {
  return expand({{"model",
                  "squeezenet1_1,resnet18,squeezenet1_0,resnet34,resnet50,densenet121,vgg16,densenet169,"
                  "vgg19,resnet101,densenet201,resnet152,densenet161"},
                 {"mode", "infer,train"},
                 {"batch", "16"},
                 {"image", "224"}},
                machine.threads);
}

}  // namespace

std::vector<int> devices_of(const std::vector<int>& report, const SuiteMachine& machine) {
  std::vector<int> devices;
  for (const int count : report) {
    const bool wanted = machine.devices.empty()
                            ? count == 1 || count <= machine.threads(1)
                            : std::ranges::find(machine.devices, count) != machine.devices.end();
    if (wanted) devices.push_back(count);
  }
  if (devices.empty())
    throw UserError("--devices: the suite has {}; name some of them", fmt::join(report, ", "));
  return devices;
}

namespace {

// As axes of a sweep. Every device has the cores that it has when all are at work: otherwise one alone would
// be another device.
TypedAxes with_devices(TypedAxes axes, const std::vector<int>& devices, const SuiteMachine& machine) {
  axes["devices"] = fmt::format("{}", fmt::join(devices, ","));
  axes["threads"] = std::to_string(machine.threads(devices.back()));
  return axes;
}

// The report's grid: of each total batch the part that a device gets.
std::vector<Case> grid_cases(const SuiteMachine& machine) {
  const TypedAxes axes = with_devices({{"model", "resnet18"}, {"mode", "infer"}, {"parallel", "scatter"}},
                                      devices_of({1, 2, 3, 4, 5, 6, 7, 8}, machine), machine);
  std::vector<Case> cells;
  for (int64_t total = 16; total <= 2048; total *= 2) {
    for (Case& cell : expand(axes, machine.threads)) {
      const int devices = cell.execution.devices;
      cell.batch = (total + devices - 1) / devices;
      if (total % devices != 0) cell.batch_total = total;
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

std::vector<Case> scaling_cases(const SuiteMachine& machine) {
  return expand(with_devices({{"model", "resnet50"}, {"mode", "train"}, {"batch", "32"}},
                             devices_of({1, 2, 4, 8, 16, 32, 64, 128}, machine), machine),
                machine.threads);
}

std::vector<std::string> training_engines() {
  std::vector<std::string> names;
  for (const Engine* engine : engines()) {
    if (engine->computes() && engine->is_fast()) names.emplace_back(engine->name());
  }
  return names;
}

Recipe cifar_training(const char* model, int64_t side, int64_t epochs, const std::string& engine, int devices,
                      int threads) {
  Recipe recipe;
  recipe.model = model;
  recipe.execution.engine = engine;
  recipe.execution.devices = devices;
  recipe.execution.threads = threads;
  recipe.image = {side, side};
  recipe.epochs = epochs;
  recipe.update = default_adam(global_batch(recipe));
  recipe.seed = 1337;
  return recipe;
}

std::vector<Recipe> cifar_trainings(const SuiteMachine& machine) {
  const std::vector<int> all_devices = devices_of({1, 2, 4, 8, 16}, machine);
  std::vector<Recipe> trainings;
  for (const auto& [model, side, epochs] :
       {std::tuple{"resnet50", 32, 10}, std::tuple{"inception_v3", 299, 5}}) {
    for (const std::string& engine : training_engines()) {
      for (const int devices : all_devices) {
        trainings.push_back(
            cifar_training(model, side, epochs, engine, devices, machine.threads(all_devices.back())));
      }
    }
  }
  return trainings;
}

int scaled_passes(int passes, double scale, int least) {
  return std::min(passes, std::max(least, static_cast<int>(std::lround(passes * scale))));
}

void leave_out_large_batches(double scale, std::vector<Case>& cells) {
  std::set<int64_t> batches;
  for (const Case& cell : cells) {
    if (cell.execution.parallel == kScatter) batches.insert(images_per_pass(cell));
  }
  if (batches.size() < 3) return;
  const auto most = static_cast<double>(*batches.rbegin());
  const auto kept = std::max(static_cast<double>(*std::next(batches.begin())), scale * most);
  std::erase_if(cells, [&](const Case& cell) { return static_cast<double>(images_per_pass(cell)) > kept; });
}

constexpr std::array kSuites = {
    Suite{"zoo", "13 networks, training and inference, beside the published DGX-1 table", zoo_cases},
    Suite{"grid",
          "ResNet18 inference, devices 1 to 8 x total batch 16 to 2048, beside the published DGX-1 grid",
          grid_cases},
    Suite{"scaling",
          "ResNet50 training on 1, 2, 4, 8 and more devices, 32 images each, beside the published table",
          scaling_cases},
    Suite{"cifar", "ResNet50 and Inception v3 learn CIFAR-10, beside the published Keras table", nullptr,
          cifar_trainings},
    Suite{.name = "volume",
          .purpose = "a 3D U-Net learns and predicts made-up volumes, beside the published EMBL tables",
          .runs_volumes = true},
    Suite{.name = "nodes",
          .purpose = "which host of a cluster is slower than the others",
          .compares_hosts = true},
    Suite{"quick", "a first look in about two minutes", quick_cases},
};

}  // namespace

std::vector<Case> scaled(std::vector<Case> cells, double scale) {
  leave_out_large_batches(scale, cells);
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
