#include "bench/synthetic.h"

#include "base/random.h"

namespace tacho {
namespace {

void fill_labels(const Random& random, int64_t classes, std::span<int64_t> labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<int64_t>(random.bits(i) % static_cast<uint64_t>(classes));
  }
}

void fill_target(const Random& random, std::span<float> target) {
  for (size_t i = 0; i < target.size(); ++i) target[i] = random.uniform(i) < 0.5f ? 0.0f : 1.0f;
}

Tensor random_input(const Graph& graph, const Value& input, uint64_t seed) {
  Tensor tensor(input.shape, input.dtype);
  const Random random = Random(seed).stream(input.name);
  if (input.name == "labels") {
    fill_labels(random, graph.shape(graph.outputs[0])[1], tensor.values<int64_t>());
  } else if (input.name == "target") {
    fill_target(random, tensor.values<float>());
  } else {
    random.fill_normal(tensor.values<float>(), 0, 1);
  }
  return tensor;
}

}  // namespace

void write_random_inputs(Plan& plan, const Graph& graph, uint64_t seed) {
  for (ValueId id : graph.inputs) plan.write(id, random_input(graph, graph.value(id), seed));
}

Tensor random_images(const Graph& graph, int64_t images, uint64_t seed) {
  Value input = graph.value(graph.inputs[0]);
  input.shape[0] = images;
  return random_input(graph, input, seed);
}

}  // namespace tacho
