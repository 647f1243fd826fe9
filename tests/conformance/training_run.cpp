#include "training_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/random.h"
#include "engine/engines.h"
#include "models/initialize.h"

namespace tacho::conformance {
namespace {

constexpr uint64_t kDropoutSeed = 7;
// What rounding leaves of a gradient that is zero, such as that of a bias ahead of a batch norm.
constexpr double kNoise = 1e-7;

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

std::unique_ptr<Plan> prepared(const Engine& engine, const Graph& graph, const Material& material,
                               const UpdateRule& rule) {
  auto plan = engine.compile(graph, material.weights, {.threads = 2, .seed = kDropoutSeed, .update = rule});
  for (size_t i = 0; i < graph.inputs.size(); ++i) plan->write(graph.inputs[i], material.inputs[i]);
  return plan;
}

Outcome run_inference(const Engine& engine, const Graph& graph, const Material& material) {
  const auto plan = prepared(engine, graph, material, Sgd{});
  plan->forward();
  Outcome outcome;
  outcome.emplace("prediction", plan->read(graph.outputs[0]));
  return outcome;
}

Outcome run_training(const Engine& engine, const Graph& graph, const Material& material, int updates,
                     const UpdateRule& rule) {
  const auto plan = prepared(engine, graph, material, rule);
  plan->forward();
  plan->backward();
  Outcome outcome;
  outcome.emplace("prediction", plan->read(graph.outputs[0]));
  outcome.emplace("loss", plan->read(graph.outputs[1]));
  if (graph.outputs.size() > 2) outcome.emplace("input gradient", plan->read(graph.outputs[2]));
  for (const auto& [parameter, gradient] : graph.gradients) {
    outcome.emplace("gradient of " + graph.value(parameter).name, plan->read(gradient));
  }
  for (int update = 0; update < updates; ++update) {
    if (update > 0) {
      plan->forward();
      plan->backward();
    }
    plan->update();
  }
  for (const ValueId id : graph.weights()) outcome.emplace(graph.value(id).name, plan->read(id));
  return outcome;
}

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.values<float>()) largest = std::max<double>(largest, std::abs(value));
  return largest;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (size_t i = 0; i < a.values<float>().size(); ++i) {
    const double difference = std::abs(static_cast<double>(a.values<float>()[i]) - b.values<float>()[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

testing::AssertionResult agrees(const Tensor& truth, const Tensor& other, double tolerance) {
  const double difference = largest_difference(truth, other), magnitude = largest_magnitude(truth);
  if (difference <= tolerance * magnitude + kNoise) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "differs by " << difference << " where the largest is " << magnitude
                                     << ", that is by " << difference / magnitude;
}

std::vector<const Engine*> engines_under_test() {
  std::vector<const Engine*> chosen;
  for (const Engine* engine : engines()) {
    if (engine->name() != "reference" && engine->name() != "null") chosen.push_back(engine);
  }
  return chosen;
}

}  // namespace tacho::conformance
