#include "engine/native/emit_winograd.h"

#include <algorithm>

#include "engine/native/emit.h"
#include "engine/native/fold.h"
#include "kernels/winograd/winograd.h"

namespace tacho::native {
namespace {

using dnnl::memory;

constexpr int64_t kKernelExtent = 3;
constexpr int64_t kLeastChannels = 12;  // below, the transforms cost more than the products save
// A few tiles of a thin layer are too little work to share.
constexpr int64_t kTileExtent = 4, kFewTiles = 32, kManyChannels = 256;

bool is_three_wide(const Shape& weight) {
  return std::all_of(weight.begin() + 2, weight.end(),
                     [](int64_t extent) { return extent == kKernelExtent; });
}

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [&](int64_t value) { return value == wanted; });
}

int64_t tiles(const winograd::Convolution& convolution) {
  int64_t count = convolution.batch;
  for (const int64_t extent : winograd::dst_extents(convolution))
    count *= (extent + kTileExtent - 1) / kTileExtent;
  return count;
}

// The convolution as the kernels see it; nothing where they cannot or should not compute it.
std::optional<winograd::Convolution> winograd_of(const Convolution& op, const Shape& input,
                                                 const Shape& weight) {
  const size_t axes = input.size() - 2;
  if ((axes != 2 && axes != 3) || !is_three_wide(weight)) return std::nullopt;
  if (op.groups != 1 || !all_are(op.stride, 1) || !all_are(op.dilation, 1)) return std::nullopt;
  if (std::min(weight[0], weight[1]) < kLeastChannels) return std::nullopt;
  winograd::Convolution result = {.batch = input[0],
                                  .in_channels = weight[1],
                                  .out_channels = weight[0],
                                  .kernel_depth = axes == 3 ? 3 : 1};
  for (size_t axis = 0; axis < axes; ++axis) {
    result.extents[3 - axes + axis] = input[2 + axis];
    result.padding[3 - axes + axis] = op.padding[axis];
  }
  const bool thin = std::min(weight[0], weight[1]) < kManyChannels;
  if (winograd::why_unsupported(result) || (thin && tiles(result) < kFewTiles)) return std::nullopt;
  return result;
}

memory::desc blocked_desc(const Shape& shape) {
  const auto tag = shape.size() == 4 ? memory::format_tag::nChw8c : memory::format_tag::nCdhw8c;
  return memory::desc(shape, memory::data_type::f32, tag);
}

memory::desc floats_desc(int64_t count) { return plain_desc({std::max<int64_t>(count, 1)}); }

// What a forward step does with its sums: a residual operand, then an activation, then max pooling. Sigmoids
// come after it, which keeps maxima the maxima.
struct Epilogue {
  std::optional<ValueId> residual = {};
  winograd::Activation activation = winograd::Activation::none;
  float alpha = 1;
  bool max_pool = false;
  bool has_sigmoid = false;
};

std::optional<Epilogue> epilogue_of(const std::vector<PostOp>& post_ops) {
  Epilogue epilogue;
  for (const PostOp& post : post_ops) {
    if (std::holds_alternative<MaxPool>(post.op)) {
      epilogue.max_pool = true;
      continue;
    }
    const bool last = epilogue.activation != winograd::Activation::none || epilogue.has_sigmoid;
    if (last || epilogue.max_pool) return std::nullopt;
    if (std::holds_alternative<Add>(post.op)) {
      if (epilogue.residual) return std::nullopt;
      epilogue.residual = post.operand;
    } else if (std::holds_alternative<Relu>(post.op)) {
      epilogue.activation = winograd::Activation::relu;
    } else if (const auto* elu = std::get_if<Elu>(&post.op)) {
      epilogue.activation = winograd::Activation::elu;
      epilogue.alpha = static_cast<float>(elu->alpha);
    } else {
      epilogue.has_sigmoid = true;
    }
  }
  const bool swaps_order = epilogue.activation == winograd::Activation::elu && epilogue.alpha < 0;
  if (epilogue.max_pool && (epilogue.residual || swaps_order)) return std::nullopt;
  return epilogue;
}

View packed_constant(const winograd::Convolution& convolution, std::function<Tensor()> make_plain,
                     Assembler& assembler) {
  const int64_t floats = winograd::packed_weights_floats(convolution);
  const int threads = assembler.threads();
  return assembler.constant(floats_desc(floats), [=] {
    const Tensor plain = make_plain();
    Tensor packed({floats}, DType::f32);
    winograd::pack_weights(convolution, winograd::WeightOrder::forward, plain.values<float>().data(),
                           packed.values<float>().data(), threads);
    return packed;
  });
}

// Parameters change with each update, so they are packed in each pass.
View packed_parameter(const winograd::Convolution& convolution, winograd::WeightOrder order, ValueId id,
                      Assembler& assembler) {
  const View plain = assembler.parameter(id, plain_desc(assembler.shape(id)));
  const View packed = assembler.temporary(floats_desc(winograd::packed_weights_floats(convolution)));
  assembler.add_kernel(
      "winograd_pack", {plain, packed}, [=, threads = assembler.threads()](std::span<std::byte* const> at) {
        winograd::pack_weights(convolution, order, as<const float>(at[0]), as<float>(at[1]), threads);
      });
  return packed;
}

struct PackedOperands {
  View weight;
  std::optional<View> bias;
};

PackedOperands pack(const winograd::Convolution& convolution, const Instruction& instruction,
                    Assembler& assembler) {
  const ValueId weight_id = instruction.inputs[1];
  const bool has_bias = instruction.inputs.size() > 2;
  const memory::desc bias_desc = plain_desc({convolution.out_channels});
  if (instruction.folded) {
    const FoldedBatchNorm& norm = *instruction.folded;
    const ScaleShift factors =
        scale_shift(assembler.weight(norm.weight), assembler.weight(norm.bias), assembler.weight(norm.mean),
                    assembler.weight(norm.variance), norm.epsilon);
    const Tensor* weight = &assembler.weight(weight_id);
    const Tensor* bias = has_bias ? &assembler.weight(instruction.inputs[2]) : nullptr;
    return {packed_constant(
                convolution, [=] { return fold_weight(*weight, factors); }, assembler),
            assembler.constant(bias_desc, [=] { return fold_bias(bias, factors); })};
  }
  PackedOperands packed = {
      assembler.is_training()
          ? packed_parameter(convolution, winograd::WeightOrder::forward, weight_id, assembler)
          : packed_constant(
                convolution, [&weight = assembler.weight(weight_id)] { return weight.clone(); }, assembler),
      {}};
  if (has_bias) packed.bias = assembler.parameter(instruction.inputs[2], bias_desc);
  return packed;
}

void add_forward(const winograd::Convolution& convolution, const View& x, const PackedOperands& packed,
                 const std::optional<View>& residual, const Epilogue& epilogue, const View& y,
                 Assembler& assembler) {
  const int threads = assembler.threads();
  const View scratch = assembler.scratch(floats_desc(winograd::forward_scratch_floats(convolution, threads)));
  std::vector<View> views = {x, packed.weight, y, scratch};
  if (packed.bias) views.push_back(*packed.bias);
  if (residual) views.push_back(*residual);
  const bool has_bias = packed.bias.has_value(), has_residual = residual.has_value();
  const auto activation = epilogue.activation;
  const float alpha = epilogue.alpha;
  const bool max_pool = epilogue.max_pool;
  const char* name = convolution.kernel_depth == 3 ? "winograd_4x4x4" : "winograd_4x4";
  assembler.add_kernel(name, views, [=](std::span<std::byte* const> at) {
    winograd::ForwardArguments arguments = {.src = as<const float>(at[0]),
                                            .packed_weights = as<const float>(at[1]),
                                            .activation = activation,
                                            .alpha = alpha,
                                            .max_pool = max_pool,
                                            .dst = as<float>(at[2])};
    if (has_bias) arguments.bias = as<const float>(at[4]);
    if (has_residual) arguments.residual = as<const float>(at[has_bias ? 5 : 4]);
    winograd::forward(convolution, arguments, as<float>(at[3]), threads);
  });
}

void add_sigmoid(const View& y, Assembler& assembler) {
  const dnnl::eltwise_forward::desc desc(assembler.forward_kind(), dnnl::algorithm::eltwise_logistic, y.desc,
                                         0.0f, 0.0f);
  const dnnl::eltwise_forward::primitive_desc pd(desc, assembler.attributes(), assembler.engine());
  assembler.add_primitive(dnnl::eltwise_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          {{DNNL_ARG_SRC, y}, {DNNL_ARG_DST, y}});
}

}  // namespace

int64_t winograd_memory_bytes(const Graph& graph) {
  int64_t all = 0, largest = 0;
  for (const Node& node : graph.nodes) {
    const auto* op = std::get_if<Convolution>(&node.op);
    if (op == nullptr) continue;
    const auto convolution =
        winograd_of(*op, graph.value(node.inputs[0]).shape, graph.value(node.inputs[1]).shape);
    if (!convolution) continue;
    const int64_t bytes = winograd::packed_weights_floats(*convolution) * int64_t{sizeof(float)};
    all += bytes;
    largest = std::max(largest, bytes);
  }
  return graph.training ? largest : all;
}

bool winograd_computes(const Convolution& op, const Shape& input, const Shape& weight) {
  return winograd_of(op, input, weight).has_value();
}

bool emit_winograd(const Convolution& op, const Instruction& instruction, Assembler& assembler) {
  const auto convolution =
      winograd_of(op, assembler.shape(instruction.inputs[0]), assembler.shape(instruction.inputs[1]));
  const auto epilogue = epilogue_of(instruction.post_ops);
  if (!convolution || !epilogue) return false;
  const View x =
      assembler.in_layout(instruction.inputs[0], blocked_desc(assembler.shape(instruction.inputs[0])));
  const PackedOperands packed = pack(*convolution, instruction, assembler);
  const memory::desc result = blocked_desc(assembler.shape(instruction.outputs[0]));
  std::optional<View> residual;
  if (epilogue->residual) residual = assembler.in_layout(*epilogue->residual, result);
  const bool over_residual = residual && residual->slot != x.slot;
  const View y = over_residual ? assembler.define_over(instruction.outputs[0], *residual)
                               : assembler.define(instruction.outputs[0], result);
  add_forward(*convolution, x, packed, residual, *epilogue, y, assembler);
  if (epilogue->has_sigmoid) add_sigmoid(y, assembler);
  return true;
}

bool emit_winograd(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler) {
  const auto convolution = winograd_of(op.forward, op.input, assembler.shape(instruction.inputs[1]));
  if (!convolution) return false;
  const winograd::Convolution backward = winograd::backward_data(*convolution);
  if (winograd::why_unsupported(backward)) return false;
  const View dy =
      assembler.in_layout(instruction.inputs[0], blocked_desc(assembler.shape(instruction.inputs[0])));
  const View packed =
      packed_parameter(backward, winograd::WeightOrder::flipped, instruction.inputs[1], assembler);
  const View dx = assembler.define(instruction.outputs[0], blocked_desc(op.input));
  add_forward(backward, dy, {packed, {}}, {}, {}, dx, assembler);
  return true;
}

bool emit_winograd(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                   Assembler& assembler) {
  const Shape& input = assembler.shape(instruction.inputs[0]);
  const auto convolution = winograd_of(op.forward, input, op.weight);
  if (!convolution) return false;
  const int threads = assembler.threads();
  const View x = assembler.in_layout(instruction.inputs[0], blocked_desc(input));
  const View dy =
      assembler.in_layout(instruction.inputs[1], blocked_desc(assembler.shape(instruction.inputs[1])));
  const View scratch =
      assembler.scratch(floats_desc(winograd::backward_weights_scratch_floats(*convolution, threads)));
  std::vector<View> views = {x, dy, assembler.define(instruction.outputs[0], plain_desc(op.weight)), scratch};
  if (op.bias) views.push_back(assembler.define(instruction.outputs[1], plain_desc({op.weight[0]})));
  const bool has_bias = op.bias;
  assembler.add_kernel("winograd_weights", views,
                       [=, geometry = *convolution](std::span<std::byte* const> at) {
                         const winograd::BackwardWeightsArguments arguments = {
                             .src = as<const float>(at[0]),
                             .diff_dst = as<const float>(at[1]),
                             .diff_weights = as<float>(at[2]),
                             .diff_bias = has_bias ? as<float>(at[4]) : nullptr};
                         winograd::backward_weights(geometry, arguments, as<float>(at[3]), threads);
                       });
  return true;
}

}  // namespace tacho::native
