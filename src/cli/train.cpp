#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/text.h"
#include "bench/case.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/sweep_options.h"
#include "cli/training.h"
#include "engine/engines.h"
#include "models/zoo.h"
#include "results/axis.h"

namespace tacho {
namespace {

// As typed, where it is no field of the recipe yet.
struct TrainOptions {
  TrainingJob job;
  std::string schedule = "one-cycle", image, augmentation, shuffle = "on", scale_rate;
  std::optional<std::string> optimizer;
  std::optional<double> rate, momentum, weight_decay;
  MeasureOptions measure;
};

bool is_on(const char* option, const std::string& text) {
  if (text == "on" || text == "off") return text == "on";
  throw UserError("{} '{}': on or off", option, text);
}

// A rate that was given is meant as it is, the default is meant for kRateBatch.
double learning_rate_for(const TrainOptions& options, double default_rate) {
  if (!options.rate && options.scale_rate.empty()) return default_rate;
  const int64_t batch = global_batch(options.job.recipe);
  const bool scaled = !options.scale_rate.empty() && is_on("--scale-lr", options.scale_rate);
  if (options.rate) return scaled ? scaled_rate(*options.rate, batch) : *options.rate;
  return scaled ? default_rate : default_rate / scaled_rate(1, batch);
}

// Only SGD has a momentum: who gives one means SGD.
std::string optimizer_of(const TrainOptions& options) {
  if (options.optimizer) return *options.optimizer;
  return options.momentum ? "sgd" : "adam";
}

UpdateRule update_rule(const TrainOptions& options) {
  const int64_t batch = global_batch(options.job.recipe);
  const std::string optimizer = optimizer_of(options);
  if (optimizer == "sgd") {
    Sgd rule = default_sgd(batch);
    rule.learning_rate = learning_rate_for(options, rule.learning_rate);
    rule.momentum = options.momentum.value_or(rule.momentum);
    rule.weight_decay = options.weight_decay.value_or(rule.weight_decay);
    return rule;
  }
  if (optimizer != "adam") throw UserError("--optimizer '{}': there are adam and sgd", optimizer);
  if (options.momentum) throw UserError("--momentum: adam has none; leave it out, or choose --optimizer sgd");
  Adam rule = default_adam(batch);
  rule.learning_rate = learning_rate_for(options, rule.learning_rate);
  rule.weight_decay = options.weight_decay.value_or(rule.weight_decay);
  return rule;
}

// The data's own size where the network can take it.
Extents default_image(const Recipe& recipe, const DataSet& data) {
  Recipe tried = recipe;
  tried.image = data.train.image();
  try {
    build_network(tried);
    return tried.image;
  } catch (const UserError&) {
    return find_model(recipe.model).image;
  }
}

// Fills in what depends on the data and on other options.
DataSet complete(TrainOptions& options, bool has_epochs) {
  Recipe& recipe = options.job.recipe;
  const Model& model = find_model(recipe.model);
  if (model.loss != Loss::softmax_cross_entropy) build_network(recipe);  // says so
  if (recipe.steps && has_epochs) throw UserError("--steps and --epochs: one of them says how long");
  if (recipe.devices != 1) throw UserError("--devices: several devices are not built yet; use 1");
  recipe.shuffle = is_on("--shuffle", options.shuffle);
  recipe.schedule = parse_schedule(options.schedule);
  recipe.update = update_rule(options);
  if (!options.image.empty()) recipe.image = resolve_image(model, parse_image("--image", options.image));
  if (options.job.control.resume && !options.job.control.checkpoints) {
    throw UserError("--resume: --checkpoint DIR says where the checkpoints are");
  }
  if (!options.augmentation.empty()) parse_augmentation(options.augmentation);
  DataSet data = open_training_data(recipe);
  recipe.augmentation = options.augmentation.empty() ? data.default_augmentation : options.augmentation;
  if (recipe.image.empty()) recipe.image = default_image(recipe, data);
  return data;
}

constexpr double kLargestRate = 1e38, kMostEpochs = 1e9;

// A number within these bounds; "nan" is within none.
CLI::Validator between(double least, double most) {
  return CLI::Validator(
      [=](const std::string& text) {
        const auto value = parse_number(text);
        if (value && *value >= least && *value <= most) return std::string();
        return fmt::format("'{}' is no number from {} to {}", text, least, most);
      },
      "");
}

void add_size_options(CLI::App& command, TrainOptions& options) {
  Recipe& recipe = options.job.recipe;
  constexpr int64_t kMost = 1'000'000'000;
  command.add_option("model", recipe.model, "A classifier of 'tacho models'")->required();
  command.add_option("--data", recipe.data, "cifar10:DIR, npy:x.npy,y.npy or synthetic")->required();
  command.add_option("--epochs", recipe.epochs, "Passes over the training images")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMost));
  command.add_option("--steps", recipe.steps, "Batches, instead of epochs")
      ->check(CLI::Range(int64_t{1}, kMost));
  command.add_option("--batch", recipe.batch, "Per device")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMost));
  command.add_option("--devices", recipe.devices)->capture_default_str();
  command.add_option("--threads", recipe.threads, "Per device; default: usable cores / devices")
      ->check(CLI::Range(1, kMostThreads));
  command.add_option("--engine", recipe.engine, "Of those 'tacho system' lists")->capture_default_str();
  command.add_option("--classes", recipe.classes, "Default: as many as the data has")
      ->check(CLI::Range(int64_t{1}, kMost));
  command.add_option("--image", options.image,
                     "Size to which the loader brings the images; default: their own");
  command
      .add_option("--subset", recipe.subset, "Only the first N training images, and at most N test images")
      ->check(CLI::Range(int64_t{1}, kMost));
  command.add_option("--seed", recipe.seed, "Of weights, order, augmentation and dropout")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  add_memory_option(command, recipe.low_memory);
  add_kernel_option(command, recipe.kernel);
  command.add_option("--weights", recipe.weights, "Start from this safetensors file; default: random");
}

void add_method_options(CLI::App& command, TrainOptions& options) {
  Recipe& recipe = options.job.recipe;
  command.add_option("--optimizer", options.optimizer, "adam or sgd; default: adam, with --momentum sgd");
  command
      .add_option("--lr", options.rate,
                  "Learning rate; default: adam 0.008, sgd 0.1, both for a batch of 256")
      ->check(between(0, kLargestRate));
  command.add_option("--scale-lr", options.scale_rate,
                     "on: --lr is for a batch of 256 and is scaled to the batch of all devices; default: on "
                     "without --lr, off with it");
  command.add_option("--momentum", options.momentum, "Of sgd; default: 0.9")->check(between(0, 1));
  command.add_option("--weight-decay", options.weight_decay, "Default: adam 0, sgd 5e-4")
      ->check(between(0, kLargestRate));
  command.add_option("--schedule", options.schedule, "constant, step, cosine or one-cycle")
      ->capture_default_str();
  command.add_option("--warmup", recipe.warmup_epochs, "Epochs in which the learning rate rises")
      ->capture_default_str()
      ->check(between(0, kMostEpochs));
  command.add_option("--label-smoothing", recipe.label_smoothing)
      ->capture_default_str()
      ->check(between(0, 1));
  command.add_option("--dropout", recipe.dropout, "Probability; default: the network's own")
      ->check(between(0, 0.99));
  command.add_option("--augment", options.augmentation,
                     "none, crop, flip or crop,flip; default: crop,flip for cifar10, none for others");
  command.add_option("--shuffle", options.shuffle, "on or off")->capture_default_str();
}

void add_control_options(CLI::App& command, TrainOptions& options) {
  TrainControl& control = options.job.control;
  command.add_option("--loader-threads", control.loader_threads, "Threads that make batches ready")
      ->capture_default_str()
      ->check(CLI::Range(1, kMostThreads));
  command
      .add_option("--target-accuracy", control.target_accuracy,
                  "Stop after the epoch whose test accuracy reaches this")
      ->check(between(0, 1));
  command.add_option("--checkpoint", control.checkpoints, "Directory for a checkpoint after every epoch");
  command.add_option("--checkpoint-every", control.checkpoint_steps, "Also after so many steps")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()));
  command.add_option("--keep", control.kept_checkpoints, "How many checkpoints are kept")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command.add_flag("--resume", control.resume, "Go on from the latest checkpoint");
  command.add_option("--save-weights", options.job.save_weights,
                     "Write the weights to this safetensors file, with torchvision's names");
  command.add_option("--log", options.job.log,
                     "Write every step and epoch to this file, a line of JSON each");
}

void train_command(TrainOptions& options, bool has_epochs, CommandContext& context) {
  for (const auto& [option, file] :
       {std::pair{"--save-weights", options.job.save_weights}, std::pair{"--log", options.job.log}}) {
    if (file) check_output_file(option, *file);
  }
  const DataSet data = complete(options, has_epochs);
  run_trainings(
      {&options.job, 1}, data, "", options.measure, context,
      [](std::span<const Record> records, Format format) { return format_records(records, format); });
}

}  // namespace

void add_train_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TrainOptions>();
  options->job.recipe.engine = std::string(engines().front()->name());
  options->job.recipe.classes = 0;
  CLI::App* command = app.add_subcommand("train", "Train a network for real: accuracy, memory, checkpoints");
  add_size_options(*command, *options);
  add_method_options(*command, *options);
  add_control_options(*command, *options);
  add_keep_options(*command, options->measure);
  command->callback([options, command, &context] {
    if (command->count("--threads") == 0) options->job.recipe.threads = usable_cores();
    train_command(*options, command->count("--epochs") > 0, context);
  });
}

}  // namespace tacho
