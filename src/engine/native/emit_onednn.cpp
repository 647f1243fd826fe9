#include "engine/native/emit_onednn.h"

#include <algorithm>

#include "engine/native/convolution_weights.h"
#include "engine/native/emit.h"
#include "engine/native/onednn.h"
#include "engine/native/onednn_limit.h"
#include "engine/native/rewrite.h"

namespace tacho::native {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using dnnl::memory;

// oneDNN counts dilation from 0, wants the padding on each side, and groups as an axis of the weight.
struct ConvolutionGeometry {
  ConvolutionGeometry(const Convolution& op, const Shape& input, const Shape& plain_weight,
                      const Shape& output)
      : groups(op.groups),
        src(any_desc(input)),
        weight(any_desc(grouped(plain_weight, op.groups))),
        dst(any_desc(output)) {
    strides = op.stride;
    padding = op.padding;
    for (size_t axis = 0; axis < op.stride.size(); ++axis) {
      dilation.push_back(op.dilation[axis] - 1);
      const int64_t reach = op.dilation[axis] * (plain_weight[axis + 2] - 1) + 1;
      const int64_t end =
          (output[axis + 2] - 1) * op.stride[axis] + reach - input[axis + 2] - op.padding[axis];
      padding_end.push_back(end);
    }
  }

  static Shape grouped(const Shape& weight, int64_t groups) {
    if (groups == 1) return weight;
    Shape shape = {groups, weight[0] / groups};
    shape.insert(shape.end(), weight.begin() + 1, weight.end());
    return shape;
  }

  int64_t groups;
  memory::desc src, weight, dst;
  memory::dims strides, dilation, padding, padding_end;
};

bool can_be_blocked(const memory::desc& desc) {
  const memory::dims dims = dims_of(desc);
  return (dims.size() == 4 || dims.size() == 5) && dims[1] >= own_block();
}

// What `make` gives for the geometry in our own kernels' layout, where that is wanted and oneDNN is fast in
// it, else in the layout that oneDNN likes best.
template<typename Make>
auto described(const ConvolutionGeometry& g, const Make& make) {
  if (prefers_own_block() && g.groups == 1 && can_be_blocked(g.dst)) {
    ConvolutionGeometry ours = g;
    ours.dst = blocked_desc(dims_of(g.dst));
    if (can_be_blocked(g.src)) ours.src = blocked_desc(dims_of(g.src));
    try {
      auto found = make(ours);
      if (std::string_view(found.impl_info_str()).starts_with("jit")) return found;
    } catch (const dnnl::error&) {
      // It has no such kernel.
    }
  }
  return make(g);
}

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

convolution_forward::primitive_desc forward_desc(const ConvolutionGeometry& g, const memory::desc& bias,
                                                 const dnnl::primitive_attr& attributes,
                                                 const Assembler& assembler) {
  const auto describe_with = [&](const auto&... bias_or_none) {
    return describe<convolution_forward>(assembler.engine(), attributes, assembler.forward_kind(), kDirect,
                                         g.src, g.weight, bias_or_none..., g.dst, g.strides, g.dilation,
                                         g.padding, g.padding_end);
  };
  return bias.get_size() > 0 ? describe_with(bias) : describe_with();
}

// The place of the result. A residual operand is accumulated onto: on itself where it dies here and is not
// what the convolution reads, else on a copy.
View define_result(const Instruction& instruction, const View& x, const memory::desc& desc,
                   Assembler& assembler) {
  const ValueId result = instruction.outputs[0];
  for (const PostOp& post : instruction.post_ops) {
    if (!std::holds_alternative<Add>(post.op)) continue;
    const View operand = assembler.in_layout(post.operand, desc);
    const View y =
        operand.slot == x.slot ? assembler.define(result, desc) : assembler.define_over(result, operand);
    if (y.slot != operand.slot) assembler.add_reorder(operand, y);
    return y;
  }
  return assembler.define(result, desc);
}

dnnl::primitive_attr fused_attributes(const Instruction& instruction, const Assembler& assembler) {
  dnnl::primitive_attr attributes = assembler.attributes();
  dnnl::post_ops ops;
  for (const PostOp& post : instruction.post_ops) {
    if (std::holds_alternative<Add>(post.op)) {
      ops.append_sum(1.0f);
    } else {
      append_activation(post, ops);
    }
  }
  attributes.set_post_ops(ops);
  return attributes;
}

void forward_by_onednn(const Convolution& op, const Instruction& instruction, Assembler& assembler) {
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const ConvolutionGeometry geometry(op, assembler.shape(instruction.inputs[0]), weight_shape,
                                     assembler.shape(instruction.outputs[0]));
  const bool has_bias = instruction.inputs.size() > 2 || instruction.folded;
  const memory::desc bias_desc = has_bias ? plain_desc({weight_shape[0]}) : memory::desc();
  const dnnl::primitive_attr attributes = fused_attributes(instruction, assembler);
  const auto pd = described(geometry, [&](const ConvolutionGeometry& g) {
    return forward_desc(g, bias_desc, attributes, assembler);
  });

  const View x = assembler.in_layout(instruction.inputs[0], pd.src_desc());
  const ConvolutionWeights packed = weights_in_layout(instruction, pd.weights_desc(), assembler);
  const View y = define_result(instruction, x, pd.dst_desc(), assembler);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, packed.weight}, {DNNL_ARG_DST, y}};
  if (packed.bias) arguments.emplace_back(DNNL_ARG_BIAS, *packed.bias);
  assembler.add_primitive(convolution_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

void data_by_onednn(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler) {
  const ConvolutionGeometry geometry(op.forward, op.input, assembler.shape(instruction.inputs[1]),
                                     assembler.shape(instruction.inputs[0]));
  const auto pd = described(geometry, [&](const ConvolutionGeometry& g) {
    const auto hint = forward_desc(g, {}, assembler.attributes(), assembler);
    return describe_backward<convolution_backward_data>(assembler.engine(), assembler.attributes(), hint,
                                                        kDirect, g.src, g.weight, g.dst, g.strides,
                                                        g.dilation, g.padding, g.padding_end);
  });

  const View dy = assembler.in_layout(instruction.inputs[0], pd.diff_dst_desc());
  const View weight = assembler.parameter(instruction.inputs[1], pd.weights_desc());
  const View dx = assembler.define(instruction.outputs[0], pd.diff_src_desc());
  assembler.add_primitive(convolution_backward_data(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, dx}});
}

void weights_by_onednn(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                       Assembler& assembler) {
  const ConvolutionGeometry geometry(op.forward, assembler.shape(instruction.inputs[0]), op.weight,
                                     assembler.shape(instruction.inputs[1]));
  const memory::desc bias_desc = op.bias ? plain_desc({op.weight[0]}) : memory::desc();
  const auto pd = described(geometry, [&](const ConvolutionGeometry& g) {
    const auto hint = forward_desc(g, bias_desc, assembler.attributes(), assembler);
    const auto describe_with = [&](const auto&... bias_or_none) {
      return describe_backward<convolution_backward_weights>(assembler.engine(), assembler.attributes(), hint,
                                                             kDirect, g.src, g.weight, bias_or_none..., g.dst,
                                                             g.strides, g.dilation, g.padding, g.padding_end);
    };
    return op.bias ? describe_with(bias_desc) : describe_with();
  });

  const View x = assembler.in_layout(instruction.inputs[0], pd.src_desc());
  const View dy = assembler.in_layout(instruction.inputs[1], pd.diff_dst_desc());
  const View dweight = assembler.define(instruction.outputs[0], pd.diff_weights_desc());
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dweight}};
  if (op.bias)
    arguments.emplace_back(DNNL_ARG_DIFF_BIAS, assembler.define(instruction.outputs[1], bias_desc));
  assembler.add_primitive(convolution_backward_weights(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

}  // namespace

bool onednn_can(const Program& program, const Instruction& instruction) {
  const auto takes = [&](const PostOp& post) {
    return std::holds_alternative<Add>(post.op) || is_activation(post.op);
  };
  const bool forward = std::holds_alternative<Convolution>(instruction.op);
  return within_onednn_limit(program, instruction) &&
         (forward ? std::ranges::all_of(instruction.post_ops, takes) : instruction.post_ops.empty());
}

void emit_onednn(const Instruction& instruction, Assembler& assembler) {
  if (const auto* forward = std::get_if<Convolution>(&instruction.op)) {
    forward_by_onednn(*forward, instruction, assembler);
  } else if (const auto* data = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
    data_by_onednn(*data, instruction, assembler);
  } else {
    weights_by_onednn(std::get<ConvolutionBackwardWeights>(instruction.op), instruction, assembler);
  }
}

}  // namespace tacho::native
