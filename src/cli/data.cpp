#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/text.h"
#include "bench/case.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "data/cifar10.h"
#include "data/image_batches.h"
#include "data/loader.h"
#include "data/source.h"
#include "results/axis.h"
#include "results/format.h"
#include "volume/make_cremi.h"

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

struct LoadOptions {
  std::string data, image, augmentation;
  int64_t batch = 32, images = 20'000;
  int threads = 1;
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
  const std::vector<std::string> parts = split(text, ',');
  Point shape = {};
  bool right = parts.size() == shape.size();
  double count = 1;
  for (size_t axis = 0; right && axis < shape.size(); ++axis) {
    shape[axis] = parse_integer(parts[axis]).value_or(0);
    right = shape[axis] > 0;
    count *= static_cast<double>(shape[axis]);
  }
  if (!right || count > static_cast<double>(kMostMadeVoxels)) {
    throw UserError(
        "--shape '{}': write the sections, rows and columns as z,y,x, such as 128,512,512; at most 10^12 "
        "voxels",
        text);
  }
  return shape;
}

void make_cremi_where_none_is(const MakeCremiOptions& options, CommandContext& context) {
  const Point shape = parse_shape(options.shape);
  std::error_code error;
  if (std::filesystem::exists(options.file, error)) {
    throw UserError("{} is there already; name a new file", options.file.string());
  }
  catch_interrupt(false);
  Progress progress({1});
  const std::string what = fmt::format("making {} voxels", to_string(shape));
  const bool made = make_cremi(options.file, shape, options.seed, [&](double share_done) {
    progress.show(0, true, fmt::format("{}: {:.0f} %", what, 100 * share_done), share_done);
    return !interrupted();
  });
  if (!made) context.exit_status = kInterruptedStatus;
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

Extents parse_flat_image(const std::string& text) {
  const Extents image = parse_image("--image", text);
  if (image.size() > 2) throw UserError("--image '{}': the images are flat; write S or HxW", text);
  return {image.front(), image.back()};
}

// The images/s of a trainer that takes no time.
double loading_rate(std::unique_ptr<const BatchSource> source, const LoadOptions& options) {
  Loader loader(std::move(source), {.threads = options.threads});
  loader.next();
  const int64_t batches = (options.images + options.batch - 1) / options.batch;
  const double begin = now_ms();
  for (int64_t i = 0; i < batches; ++i) loader.next();
  return static_cast<double>(batches * options.batch) / (now_ms() - begin) * 1e3;
}

void load(const LoadOptions& options) {
  const Extents asked = options.image.empty() ? Extents{} : parse_flat_image(options.image);
  const DataSet data = open_data(options.data, {});
  const Extents image = asked.empty() ? data.train.image() : asked;
  const std::string augmentation =
      options.augmentation.empty() ? data.default_augmentation : options.augmentation;
  auto source =
      std::make_unique<ImageBatches>(data.train, data.normalization,
                                     ImageBatchOptions{.share = {.batch = options.batch},
                                                       .image = image,
                                                       .augmentation = parse_augmentation(augmentation),
                                                       .shuffle_seed = 0});
  try {
    const double rate = loading_rate(std::move(source), options);
    print_result(fmt::format("{}: {} images/s at {}, batch {}, augmentation {}, {} loader thread{}\n",
                             options.data, format_significant(rate, 4), to_string(image), options.batch,
                             augmentation, options.threads, options.threads == 1 ? "" : "s"));
  } catch (const OutOfMemory& error) {
    throw UserError("--batch {} --image {} --loader-threads {}: {}", options.batch, to_string(image),
                    options.threads, error.what());
  }
}

void add_load(Command data) {
  auto options = std::make_shared<LoadOptions>();
  Command command = data.subcommand("load", "Measure how fast the loader delivers, without training");
  command.option("data", options->data, "cifar10:DIR, npy:x.npy,y.npy or synthetic").required();
  command.option("--image", options->image, "Size to which images are brought; default: their own");
  command.option("--batch", options->batch).show_default().range(1, 1'000'000);
  command.option("--augment", options->augmentation, "none, crop, flip or crop,flip");
  command.option("--loader-threads", options->threads).show_default().range(1, kMostThreads);
  command.option("--images", options->images, "How many").show_default().range(1, 1'000'000'000);
  command.on_run([options] { load(*options); });
}

}  // namespace

void add_data_command(Command app, CommandContext& context) {
  Command command = app.subcommand("data", "Make data sets, and see how fast they load");
  command.require_subcommand();
  add_make(command, context);
  add_load(command);
}

}  // namespace tacho
