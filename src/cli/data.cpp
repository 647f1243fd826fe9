#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "bench/axis.h"
#include "bench/case.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "data/cifar10.h"
#include "data/loader.h"
#include "data/source.h"
#include "results/format.h"

namespace tacho {
namespace {

struct MakeOptions {
  std::filesystem::path folder;
  int64_t records = 1000;
  uint64_t seed = 0;
};

struct LoadOptions {
  std::string data, image, augmentation;
  int64_t batch = 32, images = 20'000;
  int threads = 1;
};

void add_make(CLI::App& data) {
  auto options = std::make_shared<MakeOptions>();
  CLI::App* make = data.add_subcommand("make", "Write made-up data in the format of real data");
  make->require_subcommand(1);
  CLI::App* cifar10 =
      make->add_subcommand("cifar10", "Images of 10 classes that can be learnt, as CIFAR-10's files");
  cifar10->add_option("directory", options->folder, "Where the six files go")->required();
  cifar10->add_option("--records", options->records, "Images in each file; the real ones have 10000")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kCifarRecordsPerFile));
  cifar10->add_option("--seed", options->seed, "The same seed makes the same files")->capture_default_str();
  cifar10->callback([options] { make_cifar10(options->folder, options->records, options->seed); });
}

// How fast a trainer that takes no time would get its images.
void load(const LoadOptions& options) {
  const DataSet data = open_data(options.data, {});
  Extents image = data.train.image();
  if (!options.image.empty()) image = parse_image_axis("--image", options.image).front();
  if (image.size() == 1) image = {image[0], image[0]};
  const std::string augmentation =
      options.augmentation.empty() ? data.default_augmentation : options.augmentation;
  Loader loader(data.train, data.normalization,
                {.batch = options.batch,
                 .image = image,
                 .augmentation = parse_augmentation(augmentation),
                 .shuffle_seed = 0,
                 .threads = options.threads});
  loader.next();
  const int64_t batches = (options.images + options.batch - 1) / options.batch;
  const double begin = now_ms();
  for (int64_t i = 0; i < batches; ++i) loader.next();
  const double rate = static_cast<double>(batches * options.batch) / (now_ms() - begin) * 1e3;
  print_result(fmt::format("{}: {} images/s at {}, batch {}, augmentation {}, {} loader thread{}\n",
                           options.data, format_significant(rate, 4), to_string(image), options.batch,
                           augmentation, options.threads, options.threads == 1 ? "" : "s"));
}

void add_load(CLI::App& data) {
  auto options = std::make_shared<LoadOptions>();
  CLI::App* command = data.add_subcommand("load", "Measure how fast the loader delivers, without training");
  command->add_option("data", options->data, "cifar10:DIR, npy:x.npy,y.npy or synthetic")->required();
  command->add_option("--image", options->image, "Size to which images are brought; default: their own");
  command->add_option("--batch", options->batch)->capture_default_str()->check(CLI::Range(1, 1'000'000));
  command->add_option("--augment", options->augmentation, "none, crop, flip or crop,flip");
  command->add_option("--loader-threads", options->threads)
      ->capture_default_str()
      ->check(CLI::Range(1, kMostThreads));
  command->add_option("--images", options->images, "How many")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
  command->callback([options] { load(*options); });
}

}  // namespace

void add_data_command(CLI::App& app, CommandContext&) {
  CLI::App* command = app.add_subcommand("data", "Make data sets, and see how fast they load");
  command->require_subcommand(1);
  add_make(*command);
  add_load(*command);
}

}  // namespace tacho
