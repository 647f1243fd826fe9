#include "tensors/model_weights.h"

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

ModelWeights read_model_weights(const std::filesystem::path& path, const Model& model, const Graph& graph) {
  ModelWeights read = {read_safetensors(path)};
  try {
    const int ignored = check_weights(model, graph, read.weights, path.string());
    if (ignored > 0) {
      read.note = fmt::format("{}: ignored {} entries of the auxiliary head ({}*)", path.string(), ignored,
                              model.training_head);
    }
  } catch (const UserError& error) {
    throw UserError(error.what() + classes_hint(read.weights, graph, model));
  }
  return read;
}

}  // namespace tacho
