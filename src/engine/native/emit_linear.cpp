#include <algorithm>

#include "engine/memory_estimate.h"
#include "engine/native/convolution_weights.h"
#include "engine/native/emit.h"
#include "engine/native/emit_linear.h"
#include "engine/native/onednn.h"
#include "engine/native/plain_kernels.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/weight_gradient.h"

namespace tacho::native {
namespace {

using dnnl::inner_product_backward_data;
using dnnl::inner_product_backward_weights;
using dnnl::inner_product_forward;
using dnnl::memory;

// Floats of a gradient that exist at once: so few that they are still in a cache when the weights are
// updated.
constexpr int64_t kGradientPart = 4 << 20;

bool lies_in_rows(const memory::desc& desc, const Shape& weight) {
  return desc == plain_desc(weight) || desc == transposed_desc(weight);
}

// Whether our own kernel computes the gradient, of weights that lie in rows: not where it is small.
bool has_large_gradient(const Shape& weight) {
  return blocked::supported() && elements(weight) > kGradientPart;
}

// With the weights as oneDNN likes them best, but not in blocks where training makes their gradient in parts.
inner_product_forward::primitive_desc forward_desc(const memory::desc& src, const Shape& weight,
                                                   const memory::desc& bias, const memory::desc& dst,
                                                   const dnnl::primitive_attr& attributes,
                                                   const dnnl::engine& engine, dnnl::prop_kind kind) {
  const auto describe_with = [&](const memory::desc& weights) {
    if (bias.get_size() == 0)
      return describe<inner_product_forward>(engine, attributes, kind, src, weights, dst);
    return describe<inner_product_forward>(engine, attributes, kind, src, weights, bias, dst);
  };
  const auto best = describe_with(any_desc(weight));
  const bool in_parts = kind == dnnl::prop_kind::forward_training && has_large_gradient(weight);
  return !in_parts || lies_in_rows(best.weights_desc(), weight) ? best : describe_with(plain_desc(weight));
}

bool is_relu_at_most(const std::vector<PostOp>& post_ops) {
  return post_ops.empty() || (post_ops.size() == 1 && std::holds_alternative<Relu>(post_ops[0].op));
}

// By our own kernel, which reads the weights once for all images; false where it cannot. Where they fit into
// a cache, or one image reads them once anyway, oneDNN is as fast.
bool emit_small_batch(const Instruction& instruction, Assembler& assembler) {
  constexpr int64_t kCachedFloats = 1 << 20;
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const linear::Layer layer = {assembler.shape(instruction.inputs[0])[0], weight_shape[1], weight_shape[0]};
  if (assembler.is_training() || !is_relu_at_most(instruction.post_ops) || linear::why_unsupported(layer) ||
      layer.batch == 1 || elements(weight_shape) <= kCachedFloats) {
    return false;
  }
  const int threads = assembler.threads();
  const View x = assembler.in_plain(instruction.inputs[0]);
  const Packing packing = {
      linear::packed_weights_floats(layer),
      [=](const float* plain, float* packed) { linear::pack_weights(layer, plain, packed, threads); },
      linear::pack_weights_split(layer)};
  const ConvolutionWeights packed = packed_weights(instruction, packing, assembler);
  std::vector<View> views = {
      x, packed.weight,
      assembler.define(instruction.outputs[0], plain_desc(assembler.shape(instruction.outputs[0]))),
      assembler.scratch(plain_desc({std::max<int64_t>(1, linear::scratch_floats(layer, threads))}))};
  if (packed.bias) views.push_back(*packed.bias);
  assembler.add_kernel("linear", linear::forward_split(layer), views,
                       [=, relu = !instruction.post_ops.empty(),
                        has_bias = packed.bias.has_value()](std::span<std::byte* const> at) {
                         linear::forward(layer,
                                         {.src = as<const float>(at[0]),
                                          .packed_weights = as<const float>(at[1]),
                                          .bias = has_bias ? as<const float>(at[4]) : nullptr,
                                          .relu = relu,
                                          .dst = as<float>(at[2])},
                                         as<float>(at[3]), threads);
                       });
  return true;
}

void add_bias_gradient(const Instruction& instruction, const View& dy, Assembler& assembler) {
  const Shape& shape = assembler.shape(instruction.inputs[1]);
  const View dbias = assembler.define(instruction.outputs[1], plain_desc({shape[1]}));
  assembler.add_kernel("sum_rows", by_one_thread(), {dy, dbias}, [=](std::span<std::byte* const> at) {
    sum_rows(shape[0], shape[1], as<const float>(at[0]), as<float>(at[1]));
  });
}

// By our own kernel, which can compute some rows of the weights at a time: all of VGG's would take as much
// memory as the weights. False where it cannot.
bool emit_large_gradient(const LinearBackwardWeights& op, const Instruction& instruction,
                         Assembler& assembler) {
  const ValueId gradient = instruction.outputs[0];
  const Shape& weight = assembler.shape(gradient);
  const memory::desc& kept = assembler.gradient_place(gradient).desc;
  if (!has_large_gradient(weight) || !lies_in_rows(kept, weight)) return false;
  const bool by_outputs = kept == plain_desc(weight);
  const View x = assembler.in_plain(instruction.inputs[0]), dy = assembler.in_plain(instruction.inputs[1]);
  const View of_rows = by_outputs ? dy : x, of_columns = by_outputs ? x : dy;
  const int64_t rows = weight[by_outputs ? 0 : 1], columns = weight[by_outputs ? 1 : 0];
  const int64_t rows_at_once =
      assembler.may_be_in_parts(gradient) ? std::max<int64_t>(1, kGradientPart / columns) : rows;
  const int64_t batch = assembler.shape(instruction.inputs[0])[0];
  const int threads = assembler.threads();
  for (int64_t first = 0; first < rows; first += rows_at_once) {
    const int64_t count = std::min(rows_at_once, rows - first);
    const View part = count == rows ? assembler.define(gradient, kept)
                                    : assembler.define_part(gradient, first * columns, count * columns);
    const View scratch =
        assembler.scratch(plain_desc({linear::weight_gradient_scratch_floats(batch, threads)}));
    assembler.add_kernel("linear_weights", linear::weight_gradient_split(batch, count, columns),
                         {of_rows, of_columns, part, scratch}, [=](std::span<std::byte* const> at) {
                           linear::weight_gradient({batch, count, columns, as<const float>(at[0]) + first,
                                                    rows, as<const float>(at[1]), columns, as<float>(at[2])},
                                                   as<float>(at[3]), threads);
                         });
  }
  if (op.bias) add_bias_gradient(instruction, dy, assembler);
  return true;
}

}  // namespace

int64_t linear_gradient_bytes(const Graph& graph, const Node& node) {
  // Beyond, oneDNN is not asked: it does not take everything.
  constexpr int64_t kLargestBatch = 4096, kLargestBytes = int64_t{1} << 33;
  const Shape& weight = graph.shape(node.outputs[0]);
  const int64_t whole = saturating_bytes(weight, DType::f32);
  if (whole > kLargestBytes) return whole;
  const int64_t batch = std::min(graph.shape(node.inputs[0])[0], kLargestBatch);
  const auto forward = forward_desc(
      plain_desc({batch, weight[1]}), weight, plain_desc({weight[0]}), plain_desc({batch, weight[0]}), {},
      dnnl::engine(dnnl::engine::kind::cpu, 0), dnnl::prop_kind::forward_training);
  const bool in_parts = has_large_gradient(weight) && lies_in_rows(forward.weights_desc(), weight);
  return in_parts ? kGradientPart * static_cast<int64_t>(sizeof(float)) : whole;
}

void emit_op(const Linear&, const Instruction& instruction, Assembler& assembler) {
  if (emit_small_batch(instruction, assembler)) return;
  const View x = assembler.in_plain(instruction.inputs[0]);
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const bool has_bias = instruction.inputs.size() > 2;
  const memory::desc bias_desc = has_bias ? plain_desc({weight_shape[0]}) : memory::desc();
  dnnl::primitive_attr attributes = assembler.attributes();
  dnnl::post_ops ops;
  for (const PostOp& post : instruction.post_ops) append_activation(post, ops);
  attributes.set_post_ops(ops);
  const auto pd =
      forward_desc(x.desc, weight_shape, bias_desc, plain_desc(assembler.shape(instruction.outputs[0])),
                   attributes, assembler.engine(), assembler.forward_kind());

  const View weight = assembler.parameter(instruction.inputs[1], pd.weights_desc());
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weight}};
  if (has_bias) arguments.emplace_back(DNNL_ARG_BIAS, assembler.parameter(instruction.inputs[2], bias_desc));
  arguments.emplace_back(DNNL_ARG_DST, assembler.define(instruction.outputs[0], pd.dst_desc()));
  assembler.add_primitive(inner_product_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

void emit_op(const LinearBackwardData&, const Instruction& instruction, Assembler& assembler) {
  const View dy = assembler.in_plain(instruction.inputs[0]);
  const Shape& weight_shape = assembler.shape(instruction.inputs[1]);
  const memory::desc dx_desc = plain_desc(assembler.shape(instruction.outputs[0]));
  const auto hint = forward_desc(dx_desc, weight_shape, {}, dy.desc, assembler.attributes(),
                                 assembler.engine(), assembler.forward_kind());
  const auto pd = describe_backward<inner_product_backward_data>(assembler.engine(), assembler.attributes(),
                                                                 hint, dx_desc, hint.weights_desc(), dy.desc);

  const View weight = assembler.parameter(instruction.inputs[1], pd.weights_desc());
  const View dx = assembler.define(instruction.outputs[0], dx_desc);
  assembler.add_primitive(inner_product_backward_data(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, dx}});
}

void emit_op(const LinearBackwardWeights& op, const Instruction& instruction, Assembler& assembler) {
  if (emit_large_gradient(op, instruction, assembler)) return;
  const View x = assembler.in_plain(instruction.inputs[0]);
  const View dy = assembler.in_plain(instruction.inputs[1]);
  const Shape& weight_shape = assembler.shape(instruction.outputs[0]);
  const memory::desc bias_desc = op.bias ? plain_desc({weight_shape[0]}) : memory::desc();
  const auto hint = forward_desc(x.desc, weight_shape, bias_desc, dy.desc, assembler.attributes(),
                                 assembler.engine(), assembler.forward_kind());
  const auto describe_with = [&](const auto&... bias_or_none) {
    return describe_backward<inner_product_backward_weights>(assembler.engine(), assembler.attributes(), hint,
                                                             x.desc, hint.weights_desc(), bias_or_none...,
                                                             dy.desc);
  };
  const auto pd = op.bias ? describe_with(bias_desc) : describe_with();

  const View dweight = assembler.define(instruction.outputs[0], pd.diff_weights_desc());
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dweight}};
  if (op.bias)
    arguments.emplace_back(DNNL_ARG_DIFF_BIAS, assembler.define(instruction.outputs[1], bias_desc));
  assembler.add_primitive(inner_product_backward_weights(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

}  // namespace tacho::native
