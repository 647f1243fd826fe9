#include "cli/volume_suite.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/user_folder.h"
#include "cli/interrupt.h"
#include "cli/make_volume.h"
#include "distributed/collectives.h"
#include "distributed/together.h"
#include "forecast/volume_table.h"
#include "results/references.h"
#include "session/volume_work.h"
#include "train/volume_training.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const auto folder = user_folder("XDG_CACHE_HOME", ".cache");
  if (!folder) throw UserError("--folder DIR: says where volumes are made; neither HOME nor a cache is set");
  return *folder / "tacho/volumes";
}

// Rank 0's, for what a call makes and needs no longer than it runs.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& parent) {
    std::string pattern = parent / "suite.XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
      throw UserError("--folder {}: cannot make a folder there", parent.string());
    path_ = pattern;
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// One that an earlier call made is taken again.
fs::path made_volume(const fs::path& folder, const Point& shape) {
  const fs::path file = folder / fmt::format("cremi-{}.h5", to_string(shape));
  std::error_code none;
  if (fs::exists(file, none)) return file;
  return make_volume(file, shape, 0) ? file : fs::path();
}

// What a call works with, the same on all ranks.
class VolumeSite {
 public:
  VolumeSite(const VolumeSuiteOptions& options, const VolumeWork& work, Ranks& ranks) {
    Communicator& all = ranks.world().all();
    together(all, [&] {
      if (!ranks.is_first()) return;
      catch_interrupt(ranks.were_launched());
      const fs::path folder = options.folder ? fs::absolute(*options.folder) : cache_folder();
      make_folders(folder);
      files_.sample = made_volume(folder, work.sample);
      if (!files_.sample.empty()) files_.predicted = made_volume(folder, work.predicted);
      files_.folder = own_folder_.emplace(folder).path();
    });
    for (fs::path* path : {&files_.sample, &files_.predicted, &files_.folder})
      *path = broadcast(all, path->string());
  }

  // False where it was interrupted.
  bool is_ready() const { return !files_.predicted.empty(); }
  const VolumeFiles& files() const { return files_; }

 private:
  std::optional<WorkFolder> own_folder_;
  VolumeFiles files_;
};

VolumeWork asked_work(const VolumeSuiteOptions& options) {
  VolumeWork work = volume_work(options.model.value_or(VolumeWork().model), options.scale);
  work.iterations = options.iterations.value_or(work.iterations);
  const std::string halo = options.halo.value_or("exact");
  if (halo != "exact" && halo != "published") throw UserError("--halo '{}': exact or published", halo);
  work.published_halo = halo == "published";
  return work;
}

// One device with all cores unless asked for more: it is this machine as the published systems have one GPU.
std::vector<int> numbers_of_devices(const SuiteMachine& machine) {
  return machine.devices.empty() ? std::vector<int>{1} : devices_of({1, 2, 4}, machine);
}

std::string present_volume(std::span<const Record> own, const VolumeWork& work, const Layout& layout) {
  const SystemInfo& system = own.front().system;
  const std::string shrunk = what_was_shrunk(work);
  const std::string caption = fmt::format(
      "{}: {}, {} cores; windows of {}; the prediction's halo is {}\n\n{}", system.name, system.cpu,
      system.cores, to_string(work.window),
      work.published_halo ? "5x50x50 as published, which is inexact" : "exact",
      shrunk.empty()
          ? ""
          : fmt::format("shrunk: {}; figures of {} are those of this smaller work\n\n", shrunk, system.name));
  std::vector<Record> records(own.begin(), own.end());
  std::ranges::copy_if(reference_records(), std::back_inserter(records), [](const Record& record) {
    return record.reference == "embl-gpu" || record.reference == "embl-summary";
  });
  return wrap(caption, layout.width) + format_volume_tables(records, layout);
}

}  // namespace

void add_volume_suite_options(Command command, VolumeSuiteOptions& options) {
  command.option("--model", options.model, "Of the suite volume: unet3d_lite instead of unet3d");
  command
      .option("--iterations", options.iterations,
              "Of the suite volume: of its training; default: 1001, or --scale of them")
      .range(1, 1'000'000'000);
  command.option("--halo", options.halo,
                 "Of the suite volume: exact, or published, which is less than the network looks at, in the "
                 "published blocks; default: exact");
  command.option("--folder", options.folder,
                 "Of the suite volume: where volumes are made, and kept for the next time; default: the "
                 "user's cache");
}

void refuse_volume_options(const VolumeSuiteOptions& options, std::string_view suite) {
  const auto refuse = [&](const char* option, bool given) {
    if (given) throw UserError("{}: is for the suite volume; leave it out with {}", option, suite);
  };
  refuse("--model", options.model.has_value());
  refuse("--iterations", options.iterations.has_value());
  refuse("--halo", options.halo.has_value());
  refuse("--folder", options.folder.has_value());
}

void run_volume_suite(const VolumeSuiteOptions& options, const SuiteMachine& machine, const KeepOptions& keep,
                      CommandContext& context) {
  if (keep.resumed) throw UserError("--continue: a suite of trainings starts anew");
  const VolumeWork work = asked_work(options);
  const std::vector<int> all_devices = numbers_of_devices(machine);
  const VolumeSite site(options, work, context.ranks);
  if (!site.is_ready()) {
    context.exit_status = kInterruptedStatus;
    return;
  }
  std::unique_ptr<TrainingData> data;
  WorkItems items;
  for (const int devices : all_devices) {
    Recipe recipe = volume_recipe(work, site.files(), devices, machine.threads(all_devices.back()));
    auto opened = open_training_volume(
        recipe,
        {.epoch_steps = work.iterations, .processes = context.ranks.world().seat(all_devices.back()).count});
    if (!data) data = std::move(opened);
    if (context.ranks.is_first()) write_first_weights(recipe, site.files());
    for (auto& item : volume_items(work, site.files(), recipe, *data)) items.push_back(std::move(item));
  }
  const Job job = {.items = std::move(items),
                   .suite = "volume",
                   .first_result = "the training was finished",
                   .present = [&](std::span<const Record> records, const Layout& layout) {
                     return present_volume(records, work, layout);
                   }};
  run_job(job, keep, context);
}

}  // namespace tacho
