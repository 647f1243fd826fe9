#include "models/initialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace tacho {
namespace {

constexpr size_t kNamesShown = 3;

void fill(std::span<float> values, const Initializer& initializer, const Random& random) {
  std::visit(
      Overloaded{[&](const Constant& c) { std::ranges::fill(values, static_cast<float>(c.value)); },
                 [&](const Uniform& u) {
                   const float bound = static_cast<float>(u.bound);
                   random.fill_uniform(values, -bound, bound);
                 },
                 [&](const Normal& n) { random.fill_normal(values, 0, static_cast<float>(n.deviation)); },
                 [&](const TruncatedNormal& t) {
                   const float bound = static_cast<float>(t.bound);
                   random.fill_truncated_normal(values, static_cast<float>(t.deviation), -bound, bound);
                 }},
      initializer);
}

// "a, b, c and 4 more".
std::string short_list(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// What stands between the weights and the graph, by name.
struct Misfit {
  std::vector<std::string> missing, unknown, misshapen;

  std::string text() const {
    std::vector<std::string> parts;
    if (!missing.empty()) parts.push_back("missing " + short_list(missing));
    if (!unknown.empty()) parts.push_back("unknown " + short_list(unknown));
    if (!misshapen.empty()) parts.push_back("misshapen " + short_list(misshapen));
    return fmt::format("{}", fmt::join(parts, "; "));
  }
};

void compare(const Value& value, const Tensor& tensor, Misfit& misfit) {
  if (tensor.shape() != value.shape)
    misfit.misshapen.push_back(
        fmt::format("{} ({}, expected {})", value.name, to_string(tensor.shape()), to_string(value.shape)));
  else if (tensor.dtype() != value.dtype)
    misfit.misshapen.push_back(
        fmt::format("{} ({}, expected {})", value.name, name_of(tensor.dtype()), name_of(value.dtype)));
}

Misfit misfit_of(const Graph& graph, const Weights& weights) {
  Misfit misfit;
  std::vector<std::string_view> expected;
  for (const ValueId id : graph.weights()) {
    const Value& value = graph.value(id);
    expected.push_back(value.name);
    const auto found = weights.find(value.name);
    if (found == weights.end())
      misfit.missing.push_back(value.name);
    else
      compare(value, found->second, misfit);
  }
  std::ranges::sort(expected);
  for (const auto& [name, tensor] : weights)
    if (!std::ranges::binary_search(expected, std::string_view(name))) misfit.unknown.push_back(name);
  return misfit;
}

}  // namespace

Weights initialize(const Graph& graph, uint64_t seed) {
  const Random random(seed);
  Weights weights;
  for (const ValueId id : graph.weights()) {
    const Value& value = graph.value(id);
    Tensor tensor(value.shape, DType::f32);
    fill(tensor.values<float>(), value.initializer, random.stream(value.name));
    weights.emplace(value.name, std::move(tensor));
  }
  return weights;
}

void start_from_shortcuts(const Graph& graph, Weights& weights) {
  for (const Node& node : graph.nodes) {
    if (!std::holds_alternative<Add>(node.op)) continue;
    const auto end =
        std::ranges::find(graph.nodes, node.inputs[0], [](const Node& of) { return of.outputs[0]; });
    if (end == graph.nodes.end() || !std::holds_alternative<BatchNorm>(end->op)) continue;
    std::ranges::fill(weights.at(graph.value(end->inputs[1]).name).values<float>(), 0.0f);
  }
}

int check_weights(const Model& model, const Graph& graph, Weights& weights, std::string_view source) {
  const std::string_view head = model.training_head;
  const auto unused = std::erase_if(
      weights, [=](const auto& entry) { return !head.empty() && entry.first.starts_with(head); });
  std::erase_if(weights, [](const auto& entry) { return entry.first.ends_with(".num_batches_tracked"); });
  const std::string misfit = misfit_of(graph, weights).text();
  if (!misfit.empty()) throw UserError("{} does not fit {}: {}", source, graph.name, misfit);
  return static_cast<int>(unused);
}

}  // namespace tacho
