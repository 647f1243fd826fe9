#include "cli/sweep_options.h"

#include <fmt/ranges.h>

#include <limits>
#include <set>

#include "results/axis.h"

namespace tacho {
namespace {

constexpr int64_t kLargestBatch = 1'000'000'000;
constexpr int64_t kMostDevices = 4096;
constexpr int64_t kMostPasses = 1'000'000;
constexpr int64_t kLargestSeed = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostClasses = 10'000'000;

std::vector<std::string> split_models(const std::vector<std::string>& arguments) {
  std::vector<std::string> models;
  for (const std::string& argument : arguments) {
    for (std::string& name : parse_words("MODEL", argument)) models.push_back(std::move(name));
  }
  return models;
}

}  // namespace

void add_memory_option(Command command, bool& low_memory) {
  command
      .option(
          "--memory", [&low_memory](const std::string& level) { low_memory = level == "low"; },
          "Of training, normal or low: low computes activations again rather than keep them")
      .one_of({"normal", "low"});
}

void add_kernel_option(Command command, std::string& kernel) {
  command.option("--kernel", kernel,
                 fmt::format("Of convolutions, where it can: {}; default: the fastest, by measurement",
                             fmt::join(engines().front()->kernels(), " or ")));
}

void add_protocol_options(Command command, Case& shared) {
  command.option("--warmup", shared.warmup, "Passes before the timed ones")
      .show_default()
      .range(0, kMostPasses);
  command.option("--repeat", shared.repeat, "Timed passes").show_default().range(1, kMostPasses);
  command.option("--classes", shared.classes, "Of the classifiers").show_default().range(1, kMostClasses);
  command.option("--seed", shared.seed, "Of weights and data").show_default().range(0, kLargestSeed);
  add_memory_option(command, shared.low_memory);
  add_kernel_option(command, shared.kernel);
  command.option("--weights", shared.weights, "A safetensors file with torchvision's names; default: random");
}

Sweep to_sweep(const SweepOptions& options) {
  Sweep sweep;
  sweep.modes.clear();
  sweep.models = split_models(options.models);
  for (const std::string& mode : parse_choices("--mode", options.modes, {"infer", "train"})) {
    sweep.modes.push_back(mode == "infer" ? Mode::infer : Mode::train);
  }
  sweep.engines = parse_words("--engine", options.engines);
  sweep.devices = parse_axis("--devices", options.devices, kMostDevices);
  if (options.batches) sweep.batches = parse_axis("--batch", *options.batches, kLargestBatch);
  if (options.threads) sweep.threads = parse_axis("--threads", *options.threads, kMostThreads);
  if (options.images) sweep.images = parse_image_axis("--image", *options.images);
  sweep.shared = options.shared;
  return sweep;
}

Case remembering(Case cell) {
  cell.kernel_cache = default_kernel_cache();
  return cell;
}

void check_cells(std::span<const Case> cells) {
  std::set<std::string> models_seen;
  for (const Case& cell : cells) {
    check_case(cell);
    if (!cell.weights || !models_seen.insert(cell.model).second) continue;
    const int ignored = check_weights_file(cell);
    if (ignored == 0) continue;
    fmt::print(stderr, "tacho: note: {}: ignored {} entries of the auxiliary head (AuxLogits.*)\n",
               cell.weights->string(), ignored);
  }
}

}  // namespace tacho
