#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/make_volume.h"
#include "cli/point_option.h"
#include "data/cifar10.h"

namespace tacho {
namespace {

struct MakeOptions {
  std::filesystem::path folder;
  int64_t records = 1000;
  uint64_t seed = 0;
};

struct MakeCremiOptions {
  std::filesystem::path file;
  std::string shape;
  uint64_t seed = 0;
};

// Real data in this format looks the same: none is overwritten.
void make_where_none_is(const MakeOptions& options) {
  std::vector<std::string_view> files(kCifarTrainFiles.begin(), kCifarTrainFiles.end());
  files.push_back(kCifarTestFile);
  for (const std::string_view file : files) {
    std::error_code error;
    if (std::filesystem::exists(options.folder / file, error)) {
      throw UserError("{} holds {} already; name an empty directory", options.folder.string(), file);
    }
  }
  make_cifar10(options.folder, options.records, options.seed);
}

// What most disks hold.
constexpr int64_t kMostMadeVoxels = 1'000'000'000'000;

Point parse_shape(const std::string& text) {
  const Point shape = parse_point("--shape", text);
  double count = 1;
  for (const int64_t extent : shape) count *= static_cast<double>(extent);
  if (count < 1 || count > static_cast<double>(kMostMadeVoxels))
    throw UserError("--shape '{}': z,y,x, from 1 to 10^12 voxels in all", text);
  return shape;
}

void make_cremi_where_none_is(const MakeCremiOptions& options, CommandContext& context) {
  const Point shape = parse_shape(options.shape);
  std::error_code error;
  if (std::filesystem::exists(options.file, error)) {
    throw UserError("{} is there already; name a new file", options.file.string());
  }
  catch_interrupt(false);
  if (!make_volume(options.file, shape, options.seed)) context.exit_status = kInterruptedStatus;
}

void add_make_cremi(Command make, CommandContext& context) {
  auto options = std::make_shared<MakeCremiOptions>();
  Command cremi = make.subcommand("cremi", "An image of neurons and their numbers, as CREMI's HDF5 files");
  cremi.option("file", options->file, "The file to write: F.h5").required();
  cremi.option("--shape", options->shape, "z,y,x; CREMI's have 125,1250,1250").required();
  cremi.option("--seed", options->seed, "The same seed makes the same voxels").show_default();
  cremi.on_run([options, &context] { make_cremi_where_none_is(*options, context); });
}

void add_make(Command data, CommandContext& context) {
  auto options = std::make_shared<MakeOptions>();
  Command make = data.subcommand("make", "Write made-up data in the format of real data");
  make.require_subcommand();
  Command cifar10 =
      make.subcommand("cifar10", "Images of 10 classes that can be learnt, as CIFAR-10's files");
  cifar10.option("directory", options->folder, "Where the six files go").required();
  cifar10.option("--records", options->records, "Images in each file; the real ones have 10000")
      .show_default()
      .range(1, kCifarRecordsPerFile);
  cifar10.option("--seed", options->seed, "The same seed makes the same files").show_default();
  cifar10.on_run([options] { make_where_none_is(*options); });
  add_make_cremi(make, context);
}

}  // namespace

void add_data_command(Command app, CommandContext& context) {
  Command command = app.subcommand("data", "Make data sets, and see how fast they load");
  command.require_subcommand();
  add_make(command, context);
  add_data_load_command(command);
}

}  // namespace tacho
