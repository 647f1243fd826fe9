#include "engine/memory_estimate.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "engine/memory_plan.h"
#include "engine/saturating.h"

namespace tacho {
namespace {

int64_t activation_bytes(const Value& value, int64_t channel_block) {
  Shape shape = value.shape;
  const bool blocked = shape.size() > 2 && value.dtype == DType::f32;
  if (blocked) shape[1] = saturating_round_up(shape[1], channel_block);
  return saturating_bytes(shape, value.dtype);
}

int64_t bytes_with_role(const Graph& graph, Role role) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.role == role) bytes = saturating_add(bytes, saturating_bytes(value.shape, value.dtype));
  }
  return bytes;
}

// The position among a node's inputs of the one whose memory its output may take over; -1 if there is none.
template<typename T>
constexpr int in_place_input(const T&) {
  constexpr auto is = []<typename... Candidates>() { return (std::is_same_v<T, Candidates> || ...); };
  if (is.template operator()<Relu, Elu, Sigmoid, Add, Flatten, Reshape, Dropout, Fence, Slice>()) return 0;
  if (is.template operator()<ReluBackward, EluBackward, SigmoidBackward, DropoutBackward>()) return 1;
  return -1;
}
constexpr int in_place_input(const BatchNorm& op) { return op.training ? -1 : 0; }

// Every computed value that is not a gradient that is kept, as one lifetime for each piece of memory: a value
// that is computed in place extends the lifetime of the one it overwrites.
class ActivationLifetimes {
 public:
  ActivationLifetimes(const Graph& graph, const ArenaLayout& layout)
      : graph_(graph), layout_(layout), last_use_(graph.values.size(), -1) {
    find_last_uses();
    for (size_t step = 0; step < graph.nodes.size(); ++step) add_outputs(step);
  }

  const std::vector<Lifetime>& lifetimes() const { return lifetimes_; }

 private:
  static constexpr int kNone = -1, kElsewhere = -2;

  void find_last_uses() {
    for (size_t step = 0; step < graph_.nodes.size(); ++step) {
      for (const ValueId id : graph_.nodes[step].inputs) last_use_[index(id)] = static_cast<int>(step);
      for (const ValueId id : graph_.nodes[step].outputs) last_use_[index(id)] = static_cast<int>(step);
    }
    for (const ValueId id : graph_.outputs) last_use_[index(id)] = static_cast<int>(graph_.nodes.size());
    memory_of_.assign(graph_.values.size(), kNone);
    for (const auto& [parameter, gradient] : graph_.gradients) {
      if (layout_.keep_gradients) memory_of_[index(gradient)] = kElsewhere;
      last_use_[index(gradient)] = std::max(last_use_[index(gradient)], last_use_[index(parameter)]);
    }
  }

  void add_outputs(size_t step) {
    const Node& node = graph_.nodes[step];
    for (const ValueId id : node.outputs) {
      if (memory_of_[index(id)] == kElsewhere) continue;
      const auto whole = layout_.wholes.find(id);
      const ValueId owner = whole == layout_.wholes.end() ? id : whole->second;
      int reused = memory_of_[index(owner)];
      if (reused == kNone && owner == id && id == node.outputs.front())
        reused = reusable_memory(node, static_cast<int>(step));
      memory_of_[index(id)] = memory_of_[index(owner)] =
          reused == kNone ? static_cast<int>(lifetimes_.size()) : reused;
      if (reused == kNone) lifetimes_.push_back({0, static_cast<int>(step), 0});
      Lifetime& lifetime = lifetimes_[static_cast<size_t>(memory_of_[index(id)])];
      lifetime.bytes = std::max(lifetime.bytes, bytes_of(node, owner));
      lifetime.last = std::max(lifetime.last, last_use_[index(id)]);
    }
  }

  int64_t bytes_of(const Node& node, ValueId id) const {
    const bool of_weights = std::holds_alternative<LinearBackwardWeights>(node.op) && id == node.outputs[0];
    if (of_weights && layout_.linear_gradient_bytes) return layout_.linear_gradient_bytes(node);
    return activation_bytes(graph_.value(id), layout_.channel_block);
  }

  // The memory that the node's output can take over because its old content dies here, or kNone.
  int reusable_memory(const Node& node, int step) const {
    const int position = std::visit([](const auto& op) { return in_place_input(op); }, node.op);
    if (position < 0) return kNone;
    const ValueId input = node.inputs[static_cast<size_t>(position)];
    const int memory = memory_of_[index(input)];
    if (std::holds_alternative<Slice>(node.op)) return is_in_blocks(node) ? std::max(memory, kNone) : kNone;
    return memory >= 0 && lifetimes_[static_cast<size_t>(memory)].last == step ? memory : kNone;
  }

  // It is a part of its input's memory then.
  bool is_in_blocks(const Node& slice) const {
    const auto& op = std::get<Slice>(slice.op);
    return op.begin % layout_.channel_block == 0 && op.channels % layout_.channel_block == 0;
  }

  static size_t index(ValueId id) { return static_cast<size_t>(id); }

  const Graph& graph_;
  const ArenaLayout& layout_;
  std::vector<int> last_use_, memory_of_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

int64_t estimate_arena_plan_bytes(const Graph& graph, const UpdateRule& rule, const ArenaLayout& layout) {
  const int64_t parameters = bytes_with_role(graph, Role::parameter);
  const int64_t gradients = graph.training && layout.keep_gradients ? 1 : 0;
  const int64_t copies = 1 + gradients + (graph.training ? state_per_parameter(rule) : 0);
  int64_t bytes = saturating_multiply(parameters, copies);
  bytes = saturating_add(bytes, bytes_with_role(graph, Role::statistic));
  bytes = saturating_add(bytes, bytes_with_role(graph, Role::input));
  std::vector<Lifetime> lifetimes = ActivationLifetimes(graph, layout).lifetimes();
  for (size_t i = 0; layout.scratch_bytes && i < graph.nodes.size(); ++i) {
    const int64_t scratch = layout.scratch_bytes(graph.nodes[i]);
    if (scratch > 0) lifetimes.push_back({scratch, static_cast<int>(i), static_cast<int>(i)});
  }
  return saturating_add(bytes, plan_memory(lifetimes).total_bytes);
}

int64_t estimate_separate_plan_bytes(const Graph& graph, const UpdateRule& rule) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    const bool trained = graph.training && value.role == Role::parameter;
    const int64_t copies = trained ? 1 + state_per_parameter(rule) : 1;
    bytes = saturating_add(bytes, saturating_multiply(copies, saturating_bytes(value.shape, value.dtype)));
  }
  return bytes;
}

int64_t saturating_bytes(const Shape& shape, DType dtype) {
  int64_t bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t extent : shape) bytes = saturating_multiply(bytes, extent);
  return bytes;
}

}  // namespace tacho
