#include <fmt/ranges.h>

#include <limits>
#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "bench/axis.h"
#include "bench/sweep.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "engine/engines.h"

namespace tacho {
namespace {

constexpr int64_t kLargestBatch = 1'000'000'000;
constexpr int64_t kMostDevices = 4096;
constexpr int64_t kMostPasses = 1'000'000;
constexpr int64_t kLargestSeed = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostClasses = 10'000'000;

// The axes as they were typed; empty where they were not.
struct BenchOptions {
  std::vector<std::string> models;
  std::string modes = "infer", engines = std::string(tacho::engines().front()->name());
  std::string batches, devices = "1", threads, images;
  Case shared;
  bool interleaved = false;
  MeasureOptions measure;
};

std::vector<std::string> split_models(const std::vector<std::string>& arguments) {
  std::vector<std::string> models;
  for (const std::string& argument : arguments) {
    for (std::string& name : parse_words("MODEL", argument)) models.push_back(std::move(name));
  }
  return models;
}

Sweep to_sweep(const BenchOptions& options, bool has_batch, bool has_threads, bool has_image) {
  Sweep sweep;
  sweep.models = split_models(options.models);
  sweep.modes = parse_modes("--mode", options.modes);
  sweep.engines = parse_words("--engine", options.engines);
  sweep.devices = parse_axis("--devices", options.devices, kMostDevices);
  if (has_batch) sweep.batches = parse_axis("--batch", options.batches, kLargestBatch);
  if (has_threads) sweep.threads = parse_axis("--threads", options.threads, kMostThreads);
  if (has_image) sweep.images = parse_image_axis("--image", options.images);
  sweep.shared = options.shared;
  return sweep;
}

void add_axes(CLI::App& command, BenchOptions& options) {
  command.add_option("models", options.models, "Names of 'tacho models'")->required();
  command.add_option("--mode", options.modes, "infer, train or both")->capture_default_str();
  command.add_option("--batch", options.batches,
                     "Per device: 16,32 or 1-8 or 16-2048*2; default: 16, volumes 1");
  command.add_option("--devices", options.devices)->capture_default_str();
  command.add_option("--threads", options.threads, "Per device; default: usable cores / devices");
  command.add_option("--engine", options.engines, "Of those 'tacho system' lists")->capture_default_str();
  command.add_option("--image", options.images, "224 or 224x160 or 40x216x216; default: the model's own");
}

void add_protocol(CLI::App& command, Case& shared) {
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
  command.add_option("--kernel", shared.kernel,
                     fmt::format("Of convolutions, where it can: {}; default: the fastest, by measurement",
                                 fmt::join(engines().front()->kernels(), " or ")));
  command.add_option("--weights", shared.weights,
                     "A safetensors file with torchvision's names; default: random");
}

}  // namespace

void add_bench_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Measure networks; every axis takes a list and the product is run");
  add_axes(*command, *options);
  add_protocol(*command, options->shared);
  command->add_flag("--interleave", options->interleaved,
                    "Let the cells take turns, pass by pass, so that all of them meet the same disturbances");
  add_measure_options(*command, options->measure);
  command->callback([options, command, &context] {
    const auto given = [&](const char* option) { return command->count(option) > 0; };
    const Sweep sweep = to_sweep(*options, given("--batch"), given("--threads"), given("--image"));
    const Job job = {.cells = expand(sweep, usable_cores()), .interleaved = options->interleaved};
    measure_and_report(job, options->measure, context);
  });
}

}  // namespace tacho
