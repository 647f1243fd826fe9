#include <algorithm>
#include <map>
#include <optional>

#include "engine/native/passes.h"
#include "engine/native/taps.h"

namespace tacho::native {
namespace {

// An instruction that reads a convolution's weight or yields its gradient.
struct Use {
  Convolution* convolution;
  Shape input, output;
  Shape* weight = nullptr;  // as the gradient's op knows it
};

std::map<ValueId, std::vector<Use>> uses_by_weight(Program& program) {
  std::map<ValueId, ValueId> parameters;
  for (const ParameterGradient& pair : program.gradients) parameters[pair.gradient] = pair.parameter;
  std::map<ValueId, std::vector<Use>> uses;
  for (Instruction& instruction : program.instructions) {
    const std::vector<ValueId>&inputs = instruction.inputs, &outputs = instruction.outputs;
    if (auto* op = std::get_if<Convolution>(&instruction.op)) {
      uses[inputs[1]].push_back({op, program.shape(inputs[0]), program.shape(outputs[0])});
    } else if (auto* data = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
      uses[inputs[1]].push_back({&data->forward, data->input, program.shape(inputs[0])});
    } else if (auto* weights = std::get_if<ConvolutionBackwardWeights>(&instruction.op)) {
      const auto parameter = parameters.find(outputs[0]);
      if (parameter == parameters.end()) continue;
      uses[parameter->second].push_back(
          {&weights->forward, program.shape(inputs[0]), program.shape(inputs[1]), &weights->weight});
    }
  }
  return uses;
}

// What all convolutions use of a weight; nothing where that is all of it, or where they do not agree.
std::optional<UsedTaps> common_taps(const std::vector<Use>& uses, const Shape& weight) {
  const auto taps_of = [&](const Use& use) {
    return used_taps(*use.convolution, use.input, weight, use.output);
  };
  const UsedTaps taps = taps_of(uses.front());
  const bool agree = std::ranges::all_of(uses, [&](const Use& use) { return taps_of(use) == taps; });
  if (!agree || taps.count == spatial(weight)) return std::nullopt;
  return taps;
}

}  // namespace

void drop_unused_taps(Program& program) {
  std::map<ValueId, ValueId> gradients;
  for (const ParameterGradient& pair : program.gradients) gradients[pair.parameter] = pair.gradient;
  const Uses all(program);
  for (const auto& [weight, uses] : uses_by_weight(program)) {
    const bool by_convolutions_only =
        uses.size() == static_cast<size_t>(all.count(weight)) + gradients.count(weight);
    if (program.value(weight).role != Role::parameter || !by_convolutions_only) continue;
    const Shape whole = program.shape(weight);
    const std::optional<UsedTaps> taps = common_taps(uses, whole);
    if (!taps) continue;
    Shape used = {whole[0], whole[1]};
    used.insert(used.end(), taps->count.begin(), taps->count.end());
    for (const Use& use : uses) {
      use.convolution->padding = taps->padding;
      if (use.weight != nullptr) *use.weight = used;
    }
    program.values[static_cast<size_t>(weight)].shape = used;
    if (gradients.contains(weight)) program.values[static_cast<size_t>(gradients.at(weight))].shape = used;
    program.kernel_parts[weight] = {whole, taps->first};
  }
}

}  // namespace tacho::native
