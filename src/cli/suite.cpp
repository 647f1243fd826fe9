#include <fmt/format.h>

#include <limits>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "cli/nodes.h"
#include "cli/volume_suite.h"
#include "report/cifar_table.h"
#include "report/grid_table.h"
#include "report/published.h"
#include "report/scaling_table.h"
#include "report/zoo_table.h"
#include "results/axis.h"
#include "results/selection.h"
#include "session/bench_items.h"
#include "session/suites.h"
#include "session/train_item.h"
#include "train/image_training.h"

namespace tacho {
namespace {

struct SuiteOptions {
  std::string name, data, devices;
  double scale = 1;
  VolumeSuiteOptions volume;
  KeepOptions keep;
};

std::string list_of_suites() {
  std::string text;
  for (const Suite& suite : suites()) {
    text += (text.empty() ? "" : "; ") + std::string(suite.name) + ": " + std::string(suite.purpose);
  }
  return text;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.emplace_back(suite.name);
  return names;
}

SuiteMachine machine_of(const SuiteOptions& options, CommandContext& context) {
  SuiteMachine machine = {
      .threads = [&](int devices) { return context.ranks.world().threads_per_device(devices); }};
  if (!options.devices.empty())
    machine.devices = parse_axis("--devices", options.devices, std::numeric_limits<int>::max());
  // A launcher's ranks are there to be used, whatever cores they have.
  if (options.devices.empty() && context.ranks.were_launched()) {
    for (int64_t count = 1; count <= context.ranks.world().size(); ++count) machine.devices.push_back(count);
  }
  return machine;
}

// What a smaller scale left out, for the table.
std::string what_was_shrunk(const std::vector<Case>& whole, const std::vector<Case>& run) {
  const Case &before = whole.front(), &after = run.front();
  if (after.repeat == before.repeat && after.warmup == before.warmup && run.size() == whole.size()) return "";
  return fmt::format("shrunk by --scale: {} timed passes instead of {}, {} warm-up instead of {}{}\n\n",
                     after.repeat, before.repeat, after.warmup, before.warmup,
                     run.size() == whole.size()
                         ? ""
                         : fmt::format(", total batches up to {} instead of {}", images_per_pass(run.back()),
                                       images_per_pass(whole.back())));
}

std::string present_zoo(std::span<const Record> records, const Layout& layout) {
  const std::vector<Record> published = select_records("reference:dgx1-v100", {}, "").records;
  const SystemInfo& system = records[0].system;
  const std::string caption = fmt::format(
      "{}: {}, {} cores; batch 16, 224x224; training is forward + backward, without the update; ~ is "
      "noisy\n\n",
      system.name, system.cpu, system.cores);
  return wrap(caption, layout.width) + render(zoo_table(records, published), layout);
}

std::string present_cifar(std::span<const Record> records, const std::string& shrunk, const Layout& layout) {
  const std::vector<Record> published = select_records("reference:keras-cifar10", {}, "").records;
  const SystemInfo& system = records[0].system;
  const std::string caption = fmt::format(
      "{}: {}, {} cores; data {}; the time includes evaluation after every epoch, images/s count training "
      "alone; "
      "corrected figures in brackets\n\n{}",
      system.name, system.cpu, system.cores, records[0].data, shrunk);
  return wrap(caption, layout.width) + render(cifar_table(records, published), layout);
}

std::string present_grid(std::span<const Record> records, const Layout& layout) {
  std::vector<Record> published =
      select_records("reference:dgx1-v100/model=resnet18/mode=infer", {}, "").records;
  const std::vector<Record> station =
      select_records("reference:dgx-station-grid/precision=f32", {}, "").records;
  published.insert(published.end(), station.begin(), station.end());
  const SystemInfo& system = records[0].system;
  const std::string caption = fmt::format(
      "{}: {}, {} cores; ms per pass of devices x total batch, with scattering and gathering; ~ is not "
      "simply valid; the "
      "DGX-1's grid was published as a picture, and the DGX Station's network is ResNet50\n\n",
      system.name, system.cpu, system.cores);
  return wrap(caption, layout.width) + render(grid_table(records, published), layout) +
         "\nWhere the time went, in ms:\n\n" + render(grid_parts_table(records), layout);
}

std::string present_scaling(std::span<const Record> records, const Layout& layout) {
  const std::vector<Record> published = select_records("reference:pytorch-throughput", {}, "").records;
  const SystemInfo& system = records[0].system;
  const std::string caption =
      fmt::format("{}: {}, {} cores; 32 images a device; backward is all that follows the forward pass\n\n",
                  system.name, system.cpu, system.cores);
  return wrap(caption, layout.width) + render(scaling_table(records, published), layout) + "\n" +
         wrap(known_errors(published), layout.width, 2);
}

// As the suite's report shows them; a table of the records where it has none.
std::string present(std::string_view suite, std::span<const Record> records, const Layout& layout) {
  if (suite == "zoo") return present_zoo(records, layout);
  if (suite == "grid") return present_grid(records, layout);
  if (suite == "scaling") return present_scaling(records, layout);
  return format_records(records, layout);
}

// Whole trainings, one after the other, all on the same data.
void train_and_report(const Suite& suite, const SuiteOptions& options, CommandContext& context) {
  if (options.keep.resumed) throw UserError("--continue: a suite of trainings starts anew");
  if (options.data.empty()) {
    throw UserError("suite {} needs --data cifar10:DIR; scripts/fetch-cifar10 DIR fetches it", suite.name);
  }
  std::vector<Recipe> whole = suite.trainings(machine_of(options, context));
  for (Recipe& recipe : whole) recipe.data = options.data;
  const ImageTraining training = open_training_images(whole.front());
  const DataSet& data = training.data();
  std::vector<TrainingJob> jobs;
  for (const Recipe& recipe : scaled(whole, options.scale, data.train.count())) {
    jobs.push_back({.recipe = recipe});
    jobs.back().recipe.classes = data.classes;
    jobs.back().recipe.augmentation = data.default_augmentation;
  }
  const auto subset = jobs.front().recipe.subset;
  const std::string shrunk =
      subset ? fmt::format("shrunk by --scale: {} of {} training images\n\n", *subset, data.train.count())
             : "";
  const Job job = {.items = train_items(std::move(jobs), training),
                   .suite = std::string(suite.name),
                   .first_result = "the first epoch was finished",
                   .present = [&](std::span<const Record> records, const Layout& layout) {
                     return present_cifar(records, shrunk, layout);
                   }};
  run_job(job, options.keep, context);
}

void measure_and_report(const Suite& suite, const SuiteOptions& options, CommandContext& context) {
  const std::vector<Case> whole = suite.cases(machine_of(options, context));
  const std::vector<Case> cells = scaled(whole, options.scale);
  const std::string shrunk = what_was_shrunk(whole, cells);
  const Job job = {.items = bench_items(cells),
                   .suite = std::string(suite.name),
                   .present = [&](std::span<const Record> records, const Layout& layout) {
                     return wrap(shrunk, layout.width) + present(suite.name, records, layout);
                   }};
  run_job(job, options.keep, context);
}

// What would be ignored.
void refuse_other_options(const Suite& suite, const SuiteOptions& options) {
  const auto refuse = [&](const char* option, bool given, const char* why) {
    if (given) throw UserError("{}: {}; leave it out with {}", option, why, suite.name);
  };
  refuse("--data", suite.trainings == nullptr && !options.data.empty(), "is for the suite cifar");
  if (!suite.runs_volumes) refuse_volume_options(options.volume, suite.name);
  if (!suite.compares_hosts) return;
  refuse("--db", options.keep.store.file.has_value(), "nothing is kept of hosts");
  refuse("--continue", options.keep.resumed.has_value(), "nothing is kept of hosts");
  refuse("--system", !options.keep.system.empty(), "every host has its own name");
  refuse("--devices", !options.devices.empty(), "all ranks of the launcher are compared");
}

}  // namespace

void add_suite_command(Command app, CommandContext& context) {
  auto options = std::make_shared<SuiteOptions>();
  Command command = app.subcommand("suite", "Run a list of measurements that has a name");
  command.option("name", options->name, list_of_suites()).required().suggest(suite_names());
  command
      .option("--scale", options->scale,
              "Run this share of the passes, of the training images, or of the voxels, from 0 to 1")
      .show_default()
      .check([](const std::string& text) {
        const auto share = parse_quantity(text);
        return share && *share > 0 && *share <= 1 ? "" : "--scale must lie above 0 and be at most 1";
      });
  command.option("--devices", options->devices,
                 "Of the suites grid, scaling, cifar and volume: how many share the work, such as 1,2,4; "
                 "default: as many as "
                 "there are cores for, of volume 1");
  command.option("--data", options->data, "For the suite cifar: cifar10:DIR");
  add_volume_suite_options(command, options->volume);
  add_keep_options(command, options->keep);
  add_continue_option(command, options->keep);
  command.on_run([options, &context] {
    const Suite& suite = find_suite(options->name);
    refuse_other_options(suite, *options);
    if (suite.runs_volumes) {
      options->volume.scale = options->scale;
      return run_volume_suite(options->volume, machine_of(*options, context), options->keep, context);
    }
    if (suite.compares_hosts) return run_nodes_suite(options->keep.output, options->scale, context);
    if (suite.trainings != nullptr) return train_and_report(suite, *options, context);
    measure_and_report(suite, *options, context);
  });
}

}  // namespace tacho
