#include <fmt/format.h>

#include <array>
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
  std::string schedule, image, augmentation, shuffle = "on", scale_rate;
  std::string targets = std::string(name_of(VolumeTargets::affinities));
  std::optional<int64_t> batch, validate_every;
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
  if (!options.rate && is_volume(options.job.recipe.data)) {
    throw UserError("--scale-lr: the default rate for volumes is for any batch; give an --lr to be scaled");
  }
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
  Adam rule = is_volume(options.job.recipe.data) ? kVolumeAdam : default_adam(batch);
  rule.learning_rate = learning_rate_for(options, rule.learning_rate);
  rule.weight_decay = options.weight_decay.value_or(rule.weight_decay);
  return rule;
}

// Options that mean nothing for one kind of data.
constexpr std::array kForImages = {"--epochs",          "--classes", "--subset",  "--warmup",
                                   "--label-smoothing", "--dropout", "--shuffle", "--target-accuracy"};
constexpr std::array kForVolumes = {"--validate-every", "--targets"};

void check_options(const Recipe& recipe, const Command& command) {
  const bool volume = is_volume(recipe.data);
  const auto refuse = [&](std::span<const char* const> names, const char* what) {
    for (const char* name : names) {
      if (command.count(name) > 0)
        throw UserError("{}: {}; leave it out with --data {}", name, what, recipe.data);
    }
  };
  if (volume) {
    refuse(kForImages, "is for images with labels");
    if (!recipe.steps) throw UserError("--steps N: says how long; a volume has no epochs");
  } else {
    refuse(kForVolumes, "is for volumes");
    if (recipe.steps && command.count("--epochs") > 0)
      throw UserError("--steps and --epochs: one of them says how long");
  }
}

// Fills in what depends on the data and on other options.
std::unique_ptr<TrainingData> complete(TrainOptions& options, const Command& command, const World& world) {
  Recipe& recipe = options.job.recipe;
  const Model& model = find_model(recipe.model);
  require_data_for(model, recipe.data);
  check_options(recipe, command);
  const bool volume = is_volume(recipe.data);
  recipe.batch = options.batch.value_or(volume ? 1 : recipe.batch);
  recipe.execution = execution_of(options.execution, world);
  check_execution(recipe.execution, true);
  recipe.shuffle = is_on("--shuffle", options.shuffle);
  recipe.schedule = options.schedule.empty() ? (volume ? ScheduleKind::constant : recipe.schedule)
                                             : parse_schedule(options.schedule);
  recipe.update = update_rule(options);
  if (!options.image.empty()) recipe.image = resolve_image(model, parse_image("--image", options.image));
  if (options.job.control.resume && !options.job.control.checkpoints) {
    throw UserError("--resume: --checkpoint DIR says where the checkpoints are");
  }
  if (!options.augmentation.empty() && !volume) parse_augmentation(options.augmentation);
  recipe.augmentation = options.augmentation;
  recipe.targets = parse_volume_targets(options.targets);
  return open_training_data(recipe, {.epoch_steps = options.validate_every,
                                     .processes = world.seat(recipe.execution.devices).count});
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
  command.option("model", recipe.model, "One of 'tacho models'").required().suggest(model_names());
  command.option("--data", recipe.data, "cifar10:DIR, npy:x.npy,y.npy or synthetic; for 3D U-Nets cremi:F.h5")
      .required();
  command.option("--epochs", recipe.epochs, "Passes over the training images").show_default().range(1, kMost);
  command.option("--steps", recipe.steps, "Batches, instead of epochs; volumes need it").range(1, kMost);
  command.option("--batch", options.batch, "Per device; default: 32, volumes 1").range(1, kMost);
  add_execution_options(command, options.execution);
  command.option("--classes", recipe.classes, "Default: as many as the data has").range(1, kMost);
  command.option(
      "--image", options.image,
      "Size to which the loader brings the images; default: their own. Of a volume the window, DxHxW; "
      "default: the network's own, or the largest that there is room for");
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
  command
      .option("--lr", options.rate,
              "Learning rate; default: adam 0.008, sgd 0.1, both for a batch of 256; volumes: adam 0.0001")
      .check(between(0, kLargestRate));
  command.option("--scale-lr", options.scale_rate,
                 "on: --lr is for a batch of 256 and is scaled to the batch of all devices; default: on "
                 "without --lr, off with it");
  command.option("--momentum", options.momentum, "Of sgd; default: 0.9").check(between(0, 1));
  command.option("--weight-decay", options.weight_decay, "Default: adam 0, sgd 5e-4; volumes 5e-4")
      .check(between(0, kLargestRate));
  command.option("--schedule", options.schedule,
                 "constant, step, cosine or one-cycle; default: one-cycle, volumes constant");
  command.option("--warmup", recipe.warmup_epochs, "Epochs in which the learning rate rises")
      .show_default()
      .check(between(0, kMostEpochs));
  command.option("--label-smoothing", recipe.label_smoothing).show_default().check(between(0, 1));
  command.option("--dropout", recipe.dropout, "Probability; default: the network's own")
      .check(between(0, 0.99));
  command.option(
      "--augment", options.augmentation,
      "none, crop, flip or crop,flip; default: crop,flip for cifar10, none for others. Of volumes none, or "
      "some of flip,rotate,elastic; default: all");
  command
      .option("--targets", options.targets,
              "Of volumes: affinities, as published, or boundaries, 1 - affinities, which are rarer")
      .show_default();
  command.option("--shuffle", options.shuffle, "on or off").show_default();
}

void add_control_options(Command command, TrainOptions& options) {
  TrainControl& control = options.job.control;
  command.option("--loader-threads", control.loader_threads, "Threads that make batches ready")
      .show_default()
      .range(1, kMostThreads);
  command
      .option("--validate-every", options.validate_every,
              "Of volumes: steps after which the held-out part is evaluated; default: a tenth of --steps")
      .range(1, 1'000'000'000);
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

void train_command(TrainOptions& options, const Command& command, CommandContext& context) {
  for (const auto& [option, file] :
       {std::pair{"--save-weights", options.job.save_weights}, std::pair{"--log", options.job.log}}) {
    if (file && context.ranks.is_first()) check_output_file(option, *file);
  }
  const std::unique_ptr<TrainingData> data = complete(options, command, context.ranks.world());
  std::vector<TrainingJob> jobs = {options.job};
  const Job job = {.items = train_items(std::move(jobs), *data),
                   .first_result = "the first epoch was finished",
                   .after_loss = options.job.control.checkpoints
                                     ? "the same call with --resume goes on from the latest checkpoint"
                                     : "with --checkpoint DIR such a run can be resumed"};
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
  command.on_run([options, command, &context] { train_command(*options, command, context); });
}

}  // namespace tacho
