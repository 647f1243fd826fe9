#include "engine/native/emit_winograd.h"

#include <algorithm>

#include "engine/native/convolution_epilogue.h"
#include "engine/native/convolution_weights.h"
#include "engine/native/emit.h"
#include "kernels/winograd/winograd.h"

namespace tacho::native {
namespace {

using dnnl::memory;

constexpr int64_t kKernelExtent = 3;

bool is_three_wide(const Shape& weight) {
  return std::all_of(weight.begin() + 2, weight.end(),
                     [](int64_t extent) { return extent == kKernelExtent; });
}

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [&](int64_t value) { return value == wanted; });
}

// The convolution as the kernels see it; nothing where they cannot compute it.
std::optional<winograd::Convolution> winograd_of(const Convolution& op, const Shape& input,
                                                 const Shape& weight) {
  const size_t axes = input.size() - 2;
  if ((axes != 2 && axes != 3) || !is_three_wide(weight)) return std::nullopt;
  if (op.groups != 1 || !all_are(op.stride, 1) || !all_are(op.dilation, 1)) return std::nullopt;
  winograd::Convolution result = {.batch = input[0],
                                  .in_channels = weight[1],
                                  .out_channels = weight[0],
                                  .kernel_depth = axes == 3 ? 3 : 1};
  for (size_t axis = 0; axis < axes; ++axis) {
    result.extents[3 - axes + axis] = input[2 + axis];
    result.padding[3 - axes + axis] = op.padding[axis];
  }
  if (winograd::why_unsupported(result)) return std::nullopt;
  return result;
}

Packing packing_of(const winograd::Convolution& convolution, winograd::WeightOrder order,
                   const Assembler& assembler) {
  return {"winograd_pack", winograd::packed_weights_floats(convolution),
          [=, threads = assembler.threads()](const float* plain, float* packed) {
            winograd::pack_weights(convolution, order, plain, packed, threads);
          }};
}

void add_forward(winograd::Convolution convolution, const View& x, const ConvolutionWeights& packed,
                 const std::optional<View>& residual, const Epilogue& epilogue, const View& y,
                 Assembler& assembler) {
  convolution.src_batch_stride = batch_stride(x.desc);
  convolution.dst_batch_stride = batch_stride(y.desc);
  const int threads = assembler.threads();
  const View scratch = assembler.scratch(floats_desc(winograd::forward_scratch_floats(convolution, threads)));
  std::vector<View> views = {x, packed.weight, y, scratch};
  if (packed.bias) views.push_back(*packed.bias);
  if (residual) views.push_back(*residual);
  const bool has_bias = packed.bias.has_value(), has_residual = residual.has_value();
  using winograd::Activation;
  const Activation activation = epilogue.relu  ? Activation::relu
                                : epilogue.elu ? Activation::elu
                                               : Activation::none;
  const float alpha = epilogue.elu.value_or(1);
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

bool winograd_can(const Program& program, const Instruction& instruction) {
  if (const auto* op = std::get_if<Convolution>(&instruction.op)) {
    return winograd_of(*op, program.shape(instruction.inputs[0]), program.shape(instruction.inputs[1])) &&
           epilogue_of(instruction.post_ops);
  }
  if (const auto* op = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
    const auto convolution = winograd_of(op->forward, op->input, program.shape(instruction.inputs[1]));
    return convolution && !winograd::why_unsupported(winograd::backward_data(*convolution));
  }
  const auto* op = std::get_if<ConvolutionBackwardWeights>(&instruction.op);
  return op != nullptr && winograd_of(op->forward, program.shape(instruction.inputs[0]), op->weight);
}

void emit_winograd(const Convolution& op, const Instruction& instruction, Assembler& assembler) {
  const auto convolution =
      winograd_of(op, assembler.shape(instruction.inputs[0]), assembler.shape(instruction.inputs[1]));
  const auto epilogue = epilogue_of(instruction.post_ops);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const ConvolutionWeights packed = packed_weights(
      instruction, packing_of(*convolution, winograd::WeightOrder::forward, assembler), assembler);
  const auto [y, residual] = define_result(instruction, *epilogue, x, assembler);
  add_forward(*convolution, x, packed, residual, *epilogue, y, assembler);
  if (epilogue->sigmoid) add_activation(Sigmoid{}, y, assembler);
}

void emit_winograd(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler) {
  const auto convolution = winograd_of(op.forward, op.input, assembler.shape(instruction.inputs[1]));
  const winograd::Convolution backward = winograd::backward_data(*convolution);
  const View dy =
      assembler.in_layout(instruction.inputs[0], blocked_desc(assembler.shape(instruction.inputs[0])));
  const View packed = packed_parameter(
      instruction.inputs[1], packing_of(backward, winograd::WeightOrder::flipped, assembler), assembler);
  const View dx = assembler.define(instruction.outputs[0], blocked_desc(op.input));
  add_forward(backward, dy, {packed, {}}, {}, {}, dx, assembler);
}

void emit_winograd(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                   Assembler& assembler) {
  const Shape& input = assembler.shape(instruction.inputs[0]);
  const auto convolution = winograd_of(op.forward, input, op.weight);
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
}

}  // namespace tacho::native
