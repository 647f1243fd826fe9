#include "material.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/random.h"
#include "models/initialize.h"

namespace tacho::conformance {
namespace {

Tensor spread_values(const Shape& shape, uint64_t seed) {
  Tensor tensor(shape, DType::f32);
  const auto values = tensor.values<float>();
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(seed);
  std::ranges::shuffle(order, random);
  for (size_t i = 0; i < values.size(); ++i) {
    const double even = (static_cast<double>(order[i]) + 0.5) / static_cast<double>(values.size());
    values[i] = static_cast<float>(3 * even - 1.5);
    if (std::abs(values[i]) < 0.01f) values[i] = std::copysign(0.01f, values[i]);
  }
  return tensor;
}

Tensor labels(const Shape& shape, int64_t classes, const Random& random) {
  Tensor tensor(shape, DType::i64);
  const auto values = tensor.values<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int64_t>(random.bits(i) % static_cast<uint64_t>(classes));
  }
  return tensor;
}

Tensor target(const Shape& shape, const Random& random) {
  Tensor tensor(shape, DType::f32);
  random.fill_normal(tensor.values<float>(), 0, 1);
  return tensor;
}

// A batch norm that starts as the identity would hide errors.
void randomize_constants(const Graph& graph, Weights& weights, const Random& random) {
  for (const ValueId id : graph.weights()) {
    const Value& value = graph.value(id);
    if (!std::holds_alternative<Constant>(value.initializer)) continue;
    const bool scale = value.name.ends_with(".weight") || value.name.ends_with(".running_var");
    const float middle = scale ? 1.0f : 0.0f;
    random.stream(value.name)
        .fill_uniform(weights.at(value.name).values<float>(), middle - 0.5f, middle + 0.5f);
  }
}

// In the forward pass.
bool feeds_only_relus(const Graph& graph, ValueId value) {
  return std::all_of(graph.nodes.begin(), graph.nodes.begin() + static_cast<ptrdiff_t>(graph.backward_begin),
                     [&](const Node& node) {
                       const bool reads = std::ranges::find(node.inputs, value) != node.inputs.end();
                       return !reads || std::holds_alternative<Relu>(node.op);
                     });
}

}  // namespace

Material make_material(const Graph& graph, uint64_t seed) {
  const Random random(seed);
  Material material;
  material.weights = initialize(graph, seed);
  randomize_constants(graph, material.weights, random);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    if (value.dtype == DType::i64) {
      material.inputs.push_back(
          labels(value.shape, graph.shape(graph.outputs[0])[1], random.stream("labels")));
    } else if (i == 0) {
      material.inputs.push_back(spread_values(value.shape, seed));
    } else {
      material.inputs.push_back(target(value.shape, random.stream("target")));
    }
  }
  return material;
}

void settle_relus(const Graph& training_graph, Weights& weights, uint64_t seed) {
  for (const Node& node : training_graph.nodes) {
    if (!std::holds_alternative<BatchNorm>(node.op)) continue;
    const Random random = Random(seed).stream(node.name);
    const auto scales = weights.at(training_graph.value(node.inputs[1]).name).values<float>();
    const auto offsets = weights.at(training_graph.value(node.inputs[2]).name).values<float>();
    random.stream("scale").fill_uniform(scales, 0.2f, 0.22f);
    random.stream("offset").fill_uniform(offsets, 1.0f, 1.5f);
    if (!feeds_only_relus(training_graph, node.outputs[0])) continue;
    for (size_t c = 0; c < offsets.size(); ++c) {
      if (random.uniform(c) < 0.4f) offsets[c] = -offsets[c];
    }
  }
}

}  // namespace tacho::conformance
