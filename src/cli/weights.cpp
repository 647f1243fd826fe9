#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

struct InitOptions {
  std::string model;
  uint64_t seed = 0;
  int64_t classes = 1000;
  std::filesystem::path output;
};

void init(const InitOptions& options) {
  const Graph graph = build_model(find_model(options.model), {.classes = options.classes});
  write_safetensors(options.output, initialize(graph, options.seed));
}

struct Summary {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = mean, min = mean, max = mean;
};

template<typename T>
Summary summarize(std::span<const T> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const T value : values) sum += static_cast<double>(value);
  const double mean = sum / count;
  for (const T value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  const auto [min, max] = std::ranges::minmax(values);
  return {mean, std::sqrt(squares / count), static_cast<double>(min), static_cast<double>(max)};
}

Summary summarize(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::f32: return summarize(tensor.values<float>());
    case DType::f64: return summarize(tensor.values<double>());
    case DType::i32: return summarize(tensor.values<int32_t>());
    case DType::i64: return summarize(tensor.values<int64_t>());
    case DType::u8: return summarize(tensor.values<uint8_t>());
  }
  return {};
}

void show(const std::filesystem::path& path) {
  const Weights weights = read_safetensors(path);
  size_t name_width = 4, shape_width = 5;
  for (const auto& [name, tensor] : weights) {
    name_width = std::max(name_width, name.size());
    shape_width = std::max(shape_width, to_string(tensor.shape()).size());
  }
  fmt::print("{:<{}}  {:<7}  {:<{}}  {:>12}  {:>10}  {:>10}  {:>10}  {:>10}\n", "name", name_width, "type",
             "shape", shape_width, "elements", "mean", "std", "min", "max");
  int64_t total = 0;
  for (const auto& [name, tensor] : weights) {
    const Summary summary = summarize(tensor);
    fmt::print("{:<{}}  {:<7}  {:<{}}  {:>12}  {:>10.4g}  {:>10.4g}  {:>10.4g}  {:>10.4g}\n", name,
               name_width, name_of(tensor.dtype()), to_string(tensor.shape()), shape_width,
               format_thousands(tensor.size()), summary.mean, summary.deviation, summary.min, summary.max);
    total += tensor.size();
  }
  fmt::print("total: {} tensors, {} elements\n", weights.size(), format_thousands(total));
}

void add_init(Command weights) {
  auto options = std::make_shared<InitOptions>();
  Command command = weights.subcommand("init", "Write the first weights of a network");
  command.option("model", options->model, "A name of 'tacho models'").required().suggest(model_names());
  command.option("--seed", options->seed, "The same seed gives the same weights").show_default();
  command.option("--classes", options->classes, "Of a classifier").show_default();
  command.option("-o,--output", options->output, "A safetensors file").required();
  command.on_run([options] { init(*options); });
}

void add_show(Command weights) {
  auto path = std::make_shared<std::filesystem::path>();
  Command command = weights.subcommand("show", "List the tensors of a weights file");
  command.option("file", *path, "A safetensors file").required();
  command.on_run([path] { show(*path); });
}

}  // namespace

void add_weights_command(Command app, CommandContext&) {
  Command command = app.subcommand("weights", "Make and inspect weights files");
  command.require_subcommand();
  add_init(command);
  add_show(command);
}

}  // namespace tacho
