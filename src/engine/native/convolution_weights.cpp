#include "engine/native/convolution_weights.h"

#include "engine/native/fold.h"

namespace tacho::native {
namespace {

using dnnl::memory;

ScaleShift factors_of(const FoldedBatchNorm& norm, const Assembler& assembler) {
  return scale_shift(assembler.weight(norm.weight), assembler.weight(norm.bias), assembler.weight(norm.mean),
                     assembler.weight(norm.variance), norm.epsilon);
}

bool has_bias(const Instruction& instruction) { return instruction.inputs.size() > 2; }

memory::desc bias_desc(const Instruction& instruction, const Assembler& assembler) {
  return plain_desc({assembler.shape(instruction.inputs[1])[0]});
}

// Of a convolution with a folded batch norm.
View folded_bias(const Instruction& instruction, const ScaleShift& factors, Assembler& assembler) {
  const Tensor* bias = has_bias(instruction) ? &assembler.weight(instruction.inputs[2]) : nullptr;
  std::vector<ValueId> sources;
  if (bias != nullptr) sources.push_back(instruction.inputs[2]);
  return assembler.constant(bias_desc(instruction, assembler), std::move(sources),
                            [=](const Place& place) { place.pack(fold_bias(bias, factors)); });
}

std::optional<View> plain_bias(const Instruction& instruction, Assembler& assembler) {
  if (!has_bias(instruction)) return std::nullopt;
  return assembler.parameter(instruction.inputs[2], bias_desc(instruction, assembler));
}

View packed_parameter(ValueId id, const Packing& packing, Assembler& assembler) {
  const View plain = assembler.parameter(id, plain_desc(assembler.shape(id)));
  const View packed = assembler.temporary(plain_desc({packing.floats}));
  assembler.add_kernel("pack_weights", packing.split, {plain, packed},
                       [pack = packing.pack](std::span<std::byte* const> at) {
                         pack(as<const float>(at[0]), as<float>(at[1]));
                       });
  return packed;
}

}  // namespace

ConvolutionWeights weights_in_layout(const Instruction& instruction, const memory::desc& weight_desc,
                                     Assembler& assembler) {
  const ValueId id = instruction.inputs[1];
  if (!instruction.folded) return {assembler.parameter(id, weight_desc), plain_bias(instruction, assembler)};
  const ScaleShift factors = factors_of(*instruction.folded, assembler);
  const auto fill = [&weight = assembler.weight(id), factors](const Place& place) {
    place.pack(fold_weight(weight, factors));
  };
  return {assembler.constant(weight_desc, {id}, fill), folded_bias(instruction, factors, assembler)};
}

ConvolutionWeights packed_weights(const Instruction& instruction, const Packing& packing,
                                  Assembler& assembler) {
  const ValueId id = instruction.inputs[1];
  if (assembler.is_training())
    return {packed_parameter(id, packing, assembler), plain_bias(instruction, assembler)};
  const memory::desc desc = plain_desc({packing.floats});
  const Tensor& weight = assembler.weight(id);
  if (!instruction.folded) {
    const auto fill = [&weight, pack = packing.pack](const Place& place) {
      pack(weight.values<float>().data(), place.data);
    };
    return {assembler.constant(desc, {id}, fill), plain_bias(instruction, assembler)};
  }
  const ScaleShift factors = factors_of(*instruction.folded, assembler);
  const auto fill = [&weight, factors, pack = packing.pack](const Place& place) {
    pack(fold_weight(weight, factors).values<float>().data(), place.data);
  };
  return {assembler.constant(desc, {id}, fill), folded_bias(instruction, factors, assembler)};
}

}  // namespace tacho::native
