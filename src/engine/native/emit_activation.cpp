#include <cassert>

#include "engine/native/emit.h"
#include "engine/native/onednn.h"
#include "engine/native/plain_kernels.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

using dnnl::algorithm;
using dnnl::memory;

// An activation on its own, in place where its input dies.
void emit_eltwise(algorithm kind, double alpha, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.view(instruction.inputs[0]);
  const View y = assembler.define_over(instruction.outputs[0], x);
  const auto pd = describe_eltwise(assembler.engine(), assembler.attributes(), assembler.forward_kind(), kind,
                                   x.desc, static_cast<float>(alpha));
  assembler.add_primitive(dnnl::eltwise_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
}

// y, dy -> dx, from the result alone: the input may have been overwritten long ago.
void emit_eltwise_backward(algorithm kind, double alpha, const Instruction& instruction,
                           Assembler& assembler) {
  const View y = assembler.view(instruction.inputs[0]);
  const View dy = assembler.in_layout(instruction.inputs[1], y.desc);
  const View dx = assembler.define_over(instruction.outputs[0], dy);
  const auto hint = describe_eltwise(assembler.engine(), {}, dnnl::prop_kind::forward_training, kind, y.desc,
                                     static_cast<float>(alpha));
  const auto pd = describe_eltwise_backward(assembler.engine(), assembler.attributes(), hint, kind, y.desc,
                                            static_cast<float>(alpha));
  assembler.add_primitive(dnnl::eltwise_backward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DST, y}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
}

// The gradient of a ReLU whose result or gradient may be slices of wider tensors.
void mask_in_blocks(const View& y, const View& dy, const Instruction& instruction, Assembler& assembler) {
  const View dx = assembler.define_over(instruction.outputs[0], dy);
  const blocked::Sweep sweep = sweep_of(y.desc);
  assembler.add_kernel("mask", blocked::sweep_split(sweep), {y, dy, dx},
                       [sweep, by = batch_stride(y.desc), from = batch_stride(dy.desc),
                        to = batch_stride(dx.desc)](std::span<std::byte* const> at) {
                         blocked::mask(sweep, {as<const float>(at[0]), by}, {as<const float>(at[1]), from},
                                       {as<float>(at[2]), to});
                       });
}

}  // namespace

void append_activation(const PostOp& post, dnnl::post_ops& ops) {
  if (std::holds_alternative<Relu>(post.op)) append_eltwise(algorithm::eltwise_relu, 0.0f, ops);
  if (std::holds_alternative<Sigmoid>(post.op)) append_eltwise(algorithm::eltwise_logistic, 0.0f, ops);
  if (const auto* elu = std::get_if<Elu>(&post.op))
    append_eltwise(algorithm::eltwise_elu, static_cast<float>(elu->alpha), ops);
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
  const ValueId y_id = instruction.inputs[0], dy_id = instruction.inputs[1];
  if (blocked::supported() && assembler.is_in_blocks(y_id) && assembler.is_in_blocks(dy_id))
    return mask_in_blocks(assembler.in_blocks(y_id), assembler.in_blocks(dy_id), instruction, assembler);
  emit_eltwise_backward(algorithm::eltwise_relu_use_dst_for_bwd, 0, instruction, assembler);
}
void emit_op(const EluBackward& op, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise_backward(algorithm::eltwise_elu_use_dst_for_bwd, op.alpha, instruction, assembler);
}
void emit_op(const SigmoidBackward&, const Instruction& instruction, Assembler& assembler) {
  emit_eltwise_backward(algorithm::eltwise_logistic_use_dst_for_bwd, 0, instruction, assembler);
  // A sigmoid is row-major (see add_sigmoid), but its gradient goes back to a convolution: in blocks at once,
  // before anything else needs room.
  const ValueId dx = instruction.outputs[0];
  if (assembler.shape(dx).size() >= 4 && blocked::supported()) assembler.moved_to_blocks(dx);
}

// Ours rather than oneDNN 2.6's binary primitive, which is wrong where channels do not fill their last block
// and a post-op follows.
void emit_op(const Add&, const Instruction& instruction, Assembler& assembler) {
  const View a = assembler.view(instruction.inputs[0]);
  const View b = assembler.in_layout(instruction.inputs[1], a.desc);
  const View sum = assembler.define_over(instruction.outputs[0], a);
  const auto count = static_cast<int64_t>(a.desc.get_size() / sizeof(float));
  const bool with_relu = !instruction.post_ops.empty();
  assembler.add_kernel(with_relu ? "add_relu" : "add", evenly(count), {a, b, sum},
                       [count, with_relu](std::span<std::byte* const> at) {
                         const auto kernel = with_relu ? add_relu : add;
                         kernel(count, as<const float>(at[0]), as<const float>(at[1]), as<float>(at[2]));
                       });
}

}  // namespace tacho::native
