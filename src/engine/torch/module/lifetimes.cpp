#include "engine/torch/module/lifetimes.h"

#include <algorithm>
#include <map>

namespace tacho::torch_engine {
namespace {

// Autograd keeps the outputs of the other ops.
bool keeps_its_output(const Op& op) {
  return !std::visit(Overloaded{[](const Convolution&) { return true; },
                                [](const BatchNorm&) { return true; }, [](const Linear&) { return true; },
                                [](const Add&) { return true; }, [](const auto&) { return false; }},
                     op);
}

}  // namespace

std::vector<NodeLifetimes> find_lifetimes(const Graph& graph) {
  std::map<ValueId, size_t> last_use, producer, uses;
  for (size_t i = 0; i < graph.backward_begin; ++i) {
    for (const ValueId id : graph.nodes[i].inputs) {
      last_use[id] = i;
      ++uses[id];
    }
    for (const ValueId id : graph.nodes[i].outputs) producer[id] = i;
  }
  const auto dies = [&](ValueId id, size_t node) {
    return last_use[id] == node && producer.contains(id) && std::ranges::count(graph.outputs, id) == 0;
  };
  std::vector<NodeLifetimes> lifetimes(graph.backward_begin);
  for (size_t i = 0; i < graph.backward_begin; ++i) {
    const std::vector<ValueId>& inputs = graph.nodes[i].inputs;
    for (const ValueId id : inputs) {
      if (dies(id, i)) lifetimes[i].last_used.push_back(id);
    }
    // Another use may be kept by autograd, or be the same memory under another name.
    lifetimes[i].may_overwrite =
        dies(inputs[0], i) && uses[inputs[0]] == 1 && !keeps_its_output(graph.nodes[producer[inputs[0]]].op);
  }
  return lifetimes;
}

}  // namespace tacho::torch_engine
