#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "bench/case.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "engine/engines.h"
#include "models/zoo.h"
#include "results/axis.h"
#include "tensors/model_weights.h"
#include "tensors/npy.h"

namespace tacho {
namespace {

struct InferOptions {
  std::string model;
  std::optional<std::filesystem::path> weights;
  std::filesystem::path input, output;
  std::string engine = default_engine();
  std::optional<int> threads;
  int64_t classes = 1000;
};

int chosen_threads(const InferOptions& options) {
  const int threads = options.threads.value_or(usable_cores());
  if (threads < 1 || threads > kMostThreads)
    throw UserError("--threads {}: from 1 to {}", threads, kMostThreads);
  return threads;
}

void warn_if_not_finite(const Tensor& input, const std::string& file) {
  const auto bad = std::ranges::count_if(input.values<float>(), [](float v) { return !std::isfinite(v); });
  if (bad == 0) return;
  fmt::print(stderr, "tacho: warning: {}: {} of {} values are NaN or infinite, so the output may be too\n",
             file, bad, input.size());
}

Tensor read_images(const Model& model, const std::filesystem::path& path) {
  Tensor images = read_npy(path);
  const std::string file = path.string();
  const char* layout = model.image.size() == 2 ? "N,C,H,W" : "N,C,D,H,W";
  if (images.dtype() != DType::f32) {
    throw UserError("{}: holds {}, but {} takes float32: save x.astype('float32')", file,
                    name_of(images.dtype()), model.name);
  }
  if (images.shape().size() != model.image.size() + 2) {
    throw UserError("{}: shape {} has {} axes, but {} takes {}: {}", file, to_string(images.shape()),
                    images.shape().size(), model.name, model.image.size() + 2, layout);
  }
  if (images.shape()[1] != model.channels) {
    throw UserError("{}: shape {} has {} channels, but {} takes {} ({})", file, to_string(images.shape()),
                    images.shape()[1], model.name, model.channels, layout);
  }
  if (images.shape()[0] < 1) throw UserError("{}: shape {} holds no image", file, to_string(images.shape()));
  warn_if_not_finite(images, file);
  return images;
}

void infer(const InferOptions& options) {
  const Model& model = find_model(options.model);
  const Engine& engine = find_computing_engine(options.engine);
  const int threads = chosen_threads(options);
  check_output_file("--output", options.output);
  if (!options.weights) {
    throw UserError("--weights is missing: make some with 'tacho weights init {} --seed 0 -o F.safetensors'",
                    model.name);
  }
  const Tensor images = read_images(model, options.input);
  const Graph graph = build_model(
      model, {.batch = images.shape()[0], .image = spatial(images.shape()), .classes = options.classes});

  use_threads(threads);
  ModelWeights weights = read_model_weights(*options.weights, model, graph);
  if (!weights.note.empty()) fmt::print(stderr, "tacho: note: {}\n", weights.note);
  const auto plan = engine.compile(graph, std::move(weights.weights),
                                   {.threads = threads, .kernel_cache = default_kernel_cache()});
  plan->write(graph.inputs[0], images);
  plan->forward();
  write_npy(options.output, plan->read(graph.outputs[0]));
}

}  // namespace

void add_infer_command(Command app, CommandContext&) {
  auto options = std::make_shared<InferOptions>();
  Command command = app.subcommand("infer", "Run a network on the images of a NumPy file");
  command.option("model", options->model, "A name of 'tacho models'").required().suggest(model_names());
  command.option("--weights", options->weights, "Its weights, a safetensors file with torchvision's names");
  command.option("--input", options->input, "Images, a npy file: float32, N,C,H,W or N,C,D,H,W").required();
  command.option("--output", options->output, "Where the predictions go, a npy file").required();
  command.option("--engine", options->engine, "One that computes, of those 'tacho system' lists")
      .show_default();
  command.option("--threads", options->threads, "Default: every usable core");
  command.option("--classes", options->classes, "Of a classifier").show_default();
  command.on_run([options] { infer(*options); });
}

}  // namespace tacho
