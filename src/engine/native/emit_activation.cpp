#include <cassert>

#include "engine/native/emit.h"

namespace tacho::native {
namespace {

using dnnl::algorithm;

// An activation on its own, in place where its input dies.
void emit_eltwise(algorithm kind, double alpha, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.view(instruction.inputs[0]);
  const View y = assembler.define_over(instruction.outputs[0], x);
  const dnnl::eltwise_forward::desc desc(assembler.forward_kind(), kind, x.desc, static_cast<float>(alpha),
                                         0.0f);
  const dnnl::eltwise_forward::primitive_desc pd(desc, assembler.attributes(), assembler.engine());
  assembler.add_primitive(dnnl::eltwise_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
}

// y, dy -> dx, from the result alone: the input may have been overwritten long ago.
void emit_eltwise_backward(algorithm kind, double alpha, const Instruction& instruction,
                           Assembler& assembler) {
  const View y = assembler.view(instruction.inputs[0]);
  const View dy = assembler.in_layout(instruction.inputs[1], y.desc);
  const View dx = assembler.define_over(instruction.outputs[0], dy);
  const dnnl::eltwise_forward::desc forward(dnnl::prop_kind::forward_training, kind, y.desc,
                                            static_cast<float>(alpha), 0.0f);
  const dnnl::eltwise_forward::primitive_desc hint(forward, assembler.engine());
  const dnnl::eltwise_backward::desc desc(kind, y.desc, y.desc, static_cast<float>(alpha), 0.0f);
  const dnnl::eltwise_backward::primitive_desc pd(desc, assembler.attributes(), assembler.engine(), hint);
  assembler.add_primitive(dnnl::eltwise_backward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
}

}  // namespace

void append_activation(const PostOp& post, dnnl::post_ops& ops) {
  if (std::holds_alternative<Relu>(post.op)) ops.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
  if (std::holds_alternative<Sigmoid>(post.op))
    ops.append_eltwise(1.0f, algorithm::eltwise_logistic, 0.0f, 0.0f);
  if (const auto* elu = std::get_if<Elu>(&post.op)) {
    ops.append_eltwise(1.0f, algorithm::eltwise_elu, static_cast<float>(elu->alpha), 0.0f);
  }
}

void emit_op(const Relu&, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise(algorithm::eltwise_relu, 0, instruction, assembler);
}
void emit_op(const Elu& op, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise(algorithm::eltwise_elu, op.alpha, instruction, assembler);
}
void emit_op(const Sigmoid&, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise(algorithm::eltwise_logistic, 0, instruction, assembler);
}

void emit_op(const ReluBackward&, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise_backward(algorithm::eltwise_relu_use_dst_for_bwd, 0, instruction, assembler);
}
void emit_op(const EluBackward& op, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise_backward(algorithm::eltwise_elu_use_dst_for_bwd, op.alpha, instruction, assembler);
}
void emit_op(const SigmoidBackward&, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise_backward(algorithm::eltwise_logistic_use_dst_for_bwd, 0, instruction, assembler);
}

void emit_op(const Add&, const Instruction& instruction, Assembler& assembler) {
  const View a = assembler.view(instruction.inputs[0]);
  const View b = assembler.in_layout(instruction.inputs[1], a.desc);
  const View sum = assembler.define_over(instruction.outputs[0], a);
  dnnl::primitive_attr attributes = assembler.attributes();
  dnnl::post_ops ops;
  for (const PostOp& post : instruction.post_ops) append_activation(post, ops);
  attributes.set_post_ops(ops);
  const dnnl::binary::desc desc(algorithm::binary_add, a.desc, a.desc, a.desc);
  const dnnl::binary::primitive_desc pd(desc, attributes, assembler.engine());
  assembler.add_primitive(dnnl::binary(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, sum}});
}

}  // namespace tacho::native
