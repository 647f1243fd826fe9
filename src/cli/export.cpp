#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "results/axis.h"
#include "tensors/model_weights.h"
#include "tensors/onnx.h"

namespace tacho {
namespace {

struct ExportOptions {
  std::string model, image;
  std::optional<std::filesystem::path> weights;
  std::filesystem::path output;
  int64_t batch = 1, classes = 1000;
  uint64_t seed = 0;
};

Extents chosen_image(const Model& model, const std::string& text) {
  if (text.empty()) return model.image;
  return resolve_image(model, parse_image("--image", text));
}

void export_model(const ExportOptions& options) {
  const Model& model = find_model(options.model);
  check_output_file("--output", options.output);
  const Graph graph = build_model(
      model,
      {.batch = options.batch, .image = chosen_image(model, options.image), .classes = options.classes});
  ModelWeights weights = options.weights ? read_model_weights(*options.weights, model, graph)
                                         : ModelWeights{initialize(graph, options.seed)};
  if (!weights.note.empty()) fmt::print(stderr, "tacho: note: {}\n", weights.note);
  write_onnx(options.output, graph, weights.weights);
}

}  // namespace

void add_export_command(Command app, CommandContext&) {
  auto options = std::make_shared<ExportOptions>();
  Command command = app.subcommand("export", "Write a network with its weights as an ONNX file");
  command.option("model", options->model, "A name of 'tacho models'").required().suggest(model_names());
  const Option weights =
      command.option("--weights", options->weights,
                     "A safetensors file with torchvision's names; without it, first weights");
  command.option("--seed", options->seed, "Of first weights").show_default().excludes(weights);
  command.option("--batch", options->batch, "Images that the file takes at once").show_default();
  command.option("--image", options->image, "224 or 224x160 or 40x216x216; default: the model's own");
  command.option("--classes", options->classes, "Of a classifier").show_default();
  command.option("-o,--output", options->output, "An ONNX file").required();
  command.on_run([options] { export_model(*options); });
}

}  // namespace tacho
