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

void add_memory_option(CLI::App& command, bool& low_memory) {
  command
      .add_option_function<std::string>(
          "--memory", [&low_memory](const std::string& level) { low_memory = level == "low"; },
          "Of training, normal or low: low computes activations again rather than keep them")
      ->check(CLI::IsMember({"normal", "low"}));
}

void add_kernel_option(CLI::App& command, std::string& kernel) {
  command.add_option("--kernel", kernel,
                     fmt::format("Of convolutions, where it can: {}; default: the fastest, by measurement",
                                 fmt::join(engines().front()->kernels(), " or ")));
}

void add_protocol_options(CLI::App& command, Case& shared) {
  command.add_option("--warmup", shared.warmup, "Passes before the timed ones")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kMostPasses));
  command.add_option("--repeat", shared.repeat, "Timed passes")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMostPasses));
  command.add_option("--classes", shared.classes, "Of the classifiers")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMostClasses));
  command.add_option("--seed", shared.seed, "Of weights and data")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kLargestSeed));
  add_memory_option(command, shared.low_memory);
  add_kernel_option(command, shared.kernel);
  command.add_option("--weights", shared.weights,
                     "A safetensors file with torchvision's names; default: random");
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
