#include "engine/native/emit.h"

namespace tacho::native {
namespace {

using dnnl::memory;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

Forward::primitive_desc forward_desc(const memory::desc& src, const Shape& weight, const memory::desc& bias,
                                     const memory::desc& dst, const dnnl::primitive_attr& attributes,
                                     const Assembler& assembler) {
  const dnnl::prop_kind kind = assembler.forward_kind();
  const Forward::desc desc = bias.get_size() > 0 ? Forward::desc(kind, src, any_desc(weight), bias, dst)
                                                 : Forward::desc(kind, src, any_desc(weight), dst);
  return Forward::primitive_desc(desc, attributes, assembler.engine());
}

}  // namespace

void emit_op(const Linear&, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const bool has_bias = instruction.inputs.size() > 2;
  const memory::desc bias_desc = has_bias ? plain_desc({weight_shape[0]}) : memory::desc();
  dnnl::primitive_attr attributes = assembler.attributes();
  dnnl::post_ops ops;
  for (const PostOp& post : instruction.post_ops) append_activation(post, ops);
  attributes.set_post_ops(ops);
  const auto pd = forward_desc(x.desc, weight_shape, bias_desc,
                               plain_desc(assembler.shape(instruction.outputs[0])), attributes, assembler);

  const View weight = assembler.parameter(instruction.inputs[1], pd.weights_desc());
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weight}};
  if (has_bias) arguments.emplace_back(DNNL_ARG_BIAS, assembler.parameter(instruction.inputs[2], bias_desc));
  arguments.emplace_back(DNNL_ARG_DST, assembler.define(instruction.outputs[0], pd.dst_desc()));
  assembler.add_primitive(Forward(pd), pd.scratchpad_desc(), pd.impl_info_str(), std::move(arguments));
}

void emit_op(const LinearBackwardData&, const Instruction& instruction, Assembler& assembler) {
  const View dy = assembler.in_plain(instruction.inputs[0]);
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const memory::desc dx_desc = plain_desc(assembler.shape(instruction.outputs[0]));
  const auto hint = forward_desc(dx_desc, weight_shape, {}, dy.desc, assembler.attributes(), assembler);
  const BackwardData::desc desc(dx_desc, hint.weights_desc(), dy.desc);
  const BackwardData::primitive_desc pd(desc, assembler.attributes(), assembler.engine(), hint);

  const View weight = assembler.parameter(instruction.inputs[1], pd.weights_desc());
  const View dx = assembler.define(instruction.outputs[0], dx_desc);
  assembler.add_primitive(BackwardData(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, dx}});
}

void emit_op(const LinearBackwardWeights& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  const View dy = assembler.in_plain(instruction.inputs[1]);
  const Shape& weight_shape = assembler.shape(instruction.outputs[0]);
  const memory::desc bias_desc = op.bias ? plain_desc({weight_shape[0]}) : memory::desc();
  const auto hint = forward_desc(x.desc, weight_shape, bias_desc, dy.desc, assembler.attributes(), assembler);
  const BackwardWeights::desc desc =
      op.bias ? BackwardWeights::desc(x.desc, hint.weights_desc(), bias_desc, dy.desc)
              : BackwardWeights::desc(x.desc, hint.weights_desc(), dy.desc);
  const BackwardWeights::primitive_desc pd(desc, assembler.attributes(), assembler.engine(), hint);

  const View dweight = assembler.define(instruction.outputs[0], pd.diff_weights_desc());
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dweight}};
  if (op.bias)
    arguments.emplace_back(DNNL_ARG_DIFF_BIAS, assembler.define(instruction.outputs[1], bias_desc));
  assembler.add_primitive(BackwardWeights(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

}  // namespace tacho::native
