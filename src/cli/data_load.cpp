#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "bench/case.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "data/image_batches.h"
#include "data/loader.h"
#include "data/source.h"
#include "data/volume_batches.h"
#include "results/axis.h"
#include "results/format.h"
#include "train/volume_training.h"

namespace tacho {
namespace {

struct LoadOptions {
  std::string data, image, augmentation;
  std::optional<int64_t> batch, images;
  int threads = 1;
};

// What is loaded, and how it is called.
struct Load {
  Extents image;
  std::string augmentation;
  int64_t batch, images;
  std::unique_ptr<const BatchSource> source;
};

Extents parse_flat_image(const std::string& text) {
  const Extents image = parse_image("--image", text);
  if (image.size() > 2) throw UserError("--image '{}': the images are flat; write S or HxW", text);
  return {image.front(), image.back()};
}

Load load_of_images(const DataSet& data, const LoadOptions& options) {
  Load load = {
      .image = options.image.empty() ? data.train.image() : parse_flat_image(options.image),
      .augmentation = options.augmentation.empty() ? data.default_augmentation : options.augmentation,
      .batch = options.batch.value_or(32),
      .images = options.images.value_or(20'000),
      .source = {}};
  load.source =
      std::make_unique<ImageBatches>(data.train, data.normalization,
                                     ImageBatchOptions{.share = {.batch = load.batch},
                                                       .image = load.image,
                                                       .augmentation = parse_augmentation(load.augmentation),
                                                       .shuffle_seed = 0});
  return load;
}

// The images/s of a trainer that takes no time.
double loading_rate(Load& load, int threads) {
  Loader loader(std::move(load.source), {.threads = threads});
  loader.next();
  const int64_t batches = (load.images + load.batch - 1) / load.batch;
  const double begin = now_ms();
  for (int64_t i = 0; i < batches; ++i) loader.next();
  return static_cast<double>(batches * load.batch) / (now_ms() - begin) * 1e3;
}

void measure(Load load, const LoadOptions& options) {
  try {
    const double rate = loading_rate(load, options.threads);
    print_result(fmt::format(
        "{}: {} {}/s at {}, batch {}, augmentation {}, {} loader thread{}\n", options.data,
        format_significant(rate, 4), is_volume(options.data) ? "windows" : "images", to_string(load.image),
        load.batch, load.augmentation, options.threads, options.threads == 1 ? "" : "s"));
  } catch (const OutOfMemory& error) {
    throw UserError("--batch {} --image {} --loader-threads {}: {}", load.batch, to_string(load.image),
                    options.threads, error.what());
  }
}

// As a 3D U-Net is trained on it.
void measure_volume(const LoadOptions& options) {
  Recipe recipe = {.model = "unet3d_lite",
                   .data = options.data,
                   .batch = options.batch.value_or(1),
                   .steps = 1,
                   .augmentation = options.augmentation};
  if (!options.image.empty())
    recipe.image = resolve_image(find_model(recipe.model), parse_image("--image", options.image));
  const auto volume = open_training_volume(recipe, {});
  measure({.image = recipe.image,
           .augmentation = recipe.augmentation,
           .batch = recipe.batch,
           .images = options.images.value_or(100),
           .source = volume->batches(recipe, {.batch = recipe.batch})},
          options);
}

void run_load(const LoadOptions& options) {
  if (is_volume(options.data)) return measure_volume(options);
  if (!options.image.empty()) parse_flat_image(options.image);
  const DataSet data = open_data(options.data, {});
  measure(load_of_images(data, options), options);
}

}  // namespace

void add_data_load_command(Command data) {
  auto options = std::make_shared<LoadOptions>();
  Command command = data.subcommand("load", "Measure how fast the loader delivers, without training");
  command.option("data", options->data, "cifar10:DIR, npy:x.npy,y.npy, synthetic or cremi:F.h5").required();
  command.option("--image", options->image,
                 "Size to which images are brought; default: their own. Of a volume the window, DxHxW");
  command.option("--batch", options->batch, "Default: 32, volumes 1").range(1, 1'000'000);
  command.option("--augment", options->augmentation, "As of tacho train");
  command.option("--loader-threads", options->threads).show_default().range(1, kMostThreads);
  command.option("--images", options->images, "How many; default: 20000, volumes 100")
      .range(1, 1'000'000'000);
  command.on_run([options] { run_load(*options); });
}

}  // namespace tacho
