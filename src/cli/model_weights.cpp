#include "cli/model_weights.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "models/initialize.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

// How many classes the weights were made for, read off the network's last bias; nothing where they do not
// say.
std::optional<int64_t> classes_of(const Weights& weights, const Graph& graph) {
  std::string last_parameter;
  for (const Value& value : graph.values) {
    if (value.role == Role::parameter) last_parameter = value.name;
  }
  const auto found = weights.find(last_parameter);
  if (found == weights.end() || found->second.shape().size() != 1) return {};
  return found->second.shape()[0];
}

std::string classes_hint(const Weights& weights, const Graph& graph, const Model& model) {
  const auto stored = classes_of(weights, graph);
  const int64_t classes = graph.shape(graph.outputs[0])[1];
  if (model.loss != Loss::softmax_cross_entropy || !stored || *stored == classes) return {};
  return fmt::format(" (the weights have {} classes, not {}: try --classes {})", *stored, classes, *stored);
}

}  // namespace

Weights read_model_weights(const std::filesystem::path& path, const Model& model, const Graph& graph) {
  Weights weights = read_safetensors(path);
  const std::string file = path.string();
  try {
    const int ignored = check_weights(graph, weights, file);
    if (ignored > 0) {
      fmt::print(stderr, "tacho: note: {}: ignored {} entries of the auxiliary head (AuxLogits.*)\n", file,
                 ignored);
    }
  } catch (const UserError& error) {
    throw UserError(error.what() + classes_hint(weights, graph, model));
  }
  return weights;
}

}  // namespace tacho
