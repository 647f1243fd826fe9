#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "models/zoo.h"
#include "results/axis.h"
#include "session/train_item.h"
#include "train/training.h"

namespace tacho {
namespace {

// As typed, where it is no field of the recipe yet.
struct TrainOptions {
  TrainingJob job;
  std::string schedule = "one-cycle", image, augmentation, shuffle = "on", scale_rate;
  std::optional<std::string> optimizer;
  std::optional<double> rate, momentum, weight_decay;
  TypedAxes execution = default_axes();
  KeepOptions keep;
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

// Fills in what depends on the data and on other options.
std::unique_ptr<TrainingData> complete(TrainOptions& options, bool has_epochs, const World& world) {
  Recipe& recipe = options.job.recipe;
  const Model& model = find_model(recipe.model);
  require_classifier(model);
  if (recipe.steps && has_epochs) throw UserError("--steps and --epochs: one of them says how long");
  recipe.execution = execution_of(options.execution, world);
  check_execution(recipe.execution, true);
  recipe.shuffle = is_on("--shuffle", options.shuffle);
  recipe.schedule = parse_schedule(options.schedule);
  recipe.update = update_rule(options);
  if (!options.image.empty()) recipe.image = resolve_image(model, parse_image("--image", options.image));
  if (options.job.control.resume && !options.job.control.checkpoints) {
    throw UserError("--resume: --checkpoint DIR says where the checkpoints are");
  }
  if (!options.augmentation.empty()) parse_augmentation(options.augmentation);
  recipe.augmentation = options.augmentation;
  return open_training_data(recipe);
}

constexpr double kLargestRate = 1e38, kMostEpochs = 1e9;

// A number within these bounds; "nan" is within none.
std::function<std::string(const std::string&)> between(double least, double most) {
  return [=](const std::string& text) {
    const auto value = parse_number(text);
    if (value && *value >= least && *value <= most) return std::string();
    return fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
}

void add_size_options(Command command, TrainOptions& options) {
  Recipe& recipe = options.job.recipe;
  constexpr int64_t kMost = 1'000'000'000;
  command.option("model", recipe.model, "A classifier of 'tacho models'").required().suggest(model_names());
  command.option("--data", recipe.data, "cifar10:DIR, npy:x.npy,y.npy or synthetic").required();
  command.option("--epochs", recipe.epochs, "Passes over the training images").show_default().range(1, kMost);
  command.option("--steps", recipe.steps, "Batches, instead of epochs").range(1, kMost);
  command.option("--batch", recipe.batch, "Per device").show_default().range(1, kMost);
  add_execution_options(command, options.execution);
  command.option("--classes", recipe.classes, "Default: as many as the data has").range(1, kMost);
  command.option("--image", options.image, "Size to which the loader brings the images; default: their own");
  command.option("--subset", recipe.subset, "Only the first N training images, and at most N test images")
      .range(1, kMost);
  command.option("--seed", recipe.seed, "Of weights, order, augmentation and dropout")
      .show_default()
      .range(0, std::numeric_limits<int64_t>::max());
  command.option("--weights", recipe.weights, "Start from this safetensors file; default: random");
}

void add_method_options(Command command, TrainOptions& options) {
  Recipe& recipe = options.job.recipe;
  command.option("--optimizer", options.optimizer, "adam or sgd; default: adam, with --momentum sgd");
  command.option("--lr", options.rate, "Learning rate; default: adam 0.008, sgd 0.1, both for a batch of 256")
      .check(between(0, kLargestRate));
  command.option("--scale-lr", options.scale_rate,
                 "on: --lr is for a batch of 256 and is scaled to the batch of all devices; default: on "
                 "without --lr, off with it");
  command.option("--momentum", options.momentum, "Of sgd; default: 0.9").check(between(0, 1));
  command.option("--weight-decay", options.weight_decay, "Default: adam 0, sgd 5e-4")
      .check(between(0, kLargestRate));
  command.option("--schedule", options.schedule, "constant, step, cosine or one-cycle").show_default();
  command.option("--warmup", recipe.warmup_epochs, "Epochs in which the learning rate rises")
      .show_default()
      .check(between(0, kMostEpochs));
  command.option("--label-smoothing", recipe.label_smoothing).show_default().check(between(0, 1));
  command.option("--dropout", recipe.dropout, "Probability; default: the network's own")
      .check(between(0, 0.99));
  command.option("--augment", options.augmentation,
                 "none, crop, flip or crop,flip; default: crop,flip for cifar10, none for others");
  command.option("--shuffle", options.shuffle, "on or off").show_default();
}

void add_control_options(Command command, TrainOptions& options) {
  TrainControl& control = options.job.control;
  command.option("--loader-threads", control.loader_threads, "Threads that make batches ready")
      .show_default()
      .range(1, kMostThreads);
  command
      .option("--target-accuracy", control.target_accuracy,
              "Stop after the epoch whose test accuracy reaches this")
      .check(between(0, 1));
  command.option("--checkpoint", control.checkpoints, "Directory for a checkpoint after every epoch");
  command.option("--checkpoint-every", control.checkpoint_steps, "Also after so many steps")
      .range(1, std::numeric_limits<int64_t>::max());
  command.option("--keep", control.kept_checkpoints, "How many checkpoints are kept")
      .show_default()
      .range(1, 1'000'000);
  command.flag("--resume", control.resume, "Go on from the latest checkpoint");
  command.option("--save-weights", options.job.save_weights,
                 "Write the weights to this safetensors file, with torchvision's names");
  command.option("--log", options.job.log, "Write every step and epoch to this file, a line of JSON each");
}

void train_command(TrainOptions& options, bool has_epochs, CommandContext& context) {
  for (const auto& [option, file] :
       {std::pair{"--save-weights", options.job.save_weights}, std::pair{"--log", options.job.log}}) {
    if (file) check_output_file(option, *file);
  }
  const std::unique_ptr<TrainingData> data = complete(options, has_epochs, context.ranks.world());
  std::vector<TrainingJob> jobs = {options.job};
  const Job job = {.items = train_items(std::move(jobs), *data),
                   .first_result = "the first epoch was finished"};
  run_job(job, options.keep, context);
}

}  // namespace

void add_train_command(Command app, CommandContext& context) {
  auto options = std::make_shared<TrainOptions>();
  options->job.recipe.classes = 0;
  Command command = app.subcommand("train", "Train a network for real: accuracy, memory, checkpoints");
  add_size_options(command, *options);
  add_method_options(command, *options);
  add_control_options(command, *options);
  add_keep_options(command, options->keep);
  command.on_run(
      [options, command, &context] { train_command(*options, command.count("--epochs") > 0, context); });
}

}  // namespace tacho
