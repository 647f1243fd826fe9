#include "engine/native/emit_winograd.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/native/convolution_epilogue.h"
#include "engine/native/convolution_weights.h"
#include "engine/native/emit.h"
#include "engine/native/weight_gradient.h"
#include "kernels/winograd/winograd.h"

namespace tacho::native {
namespace {

using dnnl::memory;

constexpr bool kOverMask = true;  // each output is stored once

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [&](int64_t value) { return value == wanted; });
}

// The convolution as the kernels see it; nothing where they cannot compute it.
std::optional<winograd::Convolution> winograd_of(const Convolution& op, const Shape& input,
                                                 const Shape& weight) {
  const size_t axes = input.size() - 2;
  if ((axes != 2 && axes != 3) || op.groups != 1 || !all_are(op.stride, 1) || !all_are(op.dilation, 1))
    return std::nullopt;
  winograd::Convolution result = {
      .batch = input[0], .in_channels = weight[1], .out_channels = weight[0], .kernel = {1, 1, 1}};
  result.lanes = own_block();
  for (size_t axis = 0; axis < axes; ++axis) {
    result.kernel[3 - axes + axis] = static_cast<int>(weight[2 + axis]);
    result.extents[3 - axes + axis] = input[2 + axis];
    result.padding[3 - axes + axis] = op.padding[axis];
  }
  if (winograd::why_unsupported(result)) return std::nullopt;
  return result;
}

// Whether each pass packs the weights again, rather than that they are kept packed: four times as large as
// they are, eight times in 3D. In training they change with each update. In inference it is done only where
// memory matters more than time: layers of few tiles take two to three times as long.
bool packs_in_each_pass(bool training, bool low_memory) { return training || low_memory; }

struct ForwardWeights {
  ConvolutionWeights views;
  std::optional<winograd::WeightOrder> order;  // in which they are to be packed
};

ForwardWeights forward_weights(const Instruction& instruction, const winograd::Convolution& convolution,
                               Assembler& assembler) {
  const auto order = winograd::WeightOrder::forward;
  const Program& program = assembler.program();
  if (packs_in_each_pass(program.training, program.low_memory)) {
    const auto plain = plain_desc(assembler.shape(instruction.inputs[1]));
    return {weights_in_layout(instruction, plain, assembler), order};
  }
  const Packing packing = {winograd::packed_weights_floats(convolution),
                           [=, threads = assembler.threads()](const float* plain, float* packed) {
                             winograd::pack_weights(convolution, order, plain, packed, threads);
                           },
                           winograd::pack_weights_split(convolution)};
  return {packed_weights(instruction, packing, assembler), {}};
}

// What the kernel reads and writes.
struct ForwardViews {
  View x;
  ForwardWeights weights;
  ResultView y;
};

std::string kernel_name(const winograd::Convolution& convolution) {
  const auto& [depth, height, width] = convolution.kernel;
  return depth == 1 ? fmt::format("winograd_{}x{}", height, width)
                    : fmt::format("winograd_{}x{}x{}", depth, height, width);
}

winograd::Activation activation_of(const Epilogue& epilogue) {
  if (epilogue.relu) return winograd::Activation::relu;
  return epilogue.elu ? winograd::Activation::elu : winograd::Activation::none;
}

void add_forward(winograd::Convolution convolution, const ForwardViews& of, const Epilogue& epilogue,
                 Assembler& assembler) {
  convolution.src_batch_stride = batch_stride(of.x.desc);
  convolution.dst_batch_stride = batch_stride(of.y.view.desc);
  const int threads = assembler.threads();
  const auto order = of.weights.order;
  const View scratch =
      assembler.scratch(floats_desc(order ? winograd::packing_forward_scratch_floats(convolution, threads)
                                          : winograd::forward_scratch_floats(convolution, threads)));
  std::vector<View> views = {of.x, of.weights.views.weight, of.y.view, scratch};
  const auto place = [&](const std::optional<View>& view) -> size_t {  // 0 for none
    if (!view) return 0;
    views.push_back(*view);
    return views.size() - 1;
  };
  const size_t bias = place(of.weights.views.bias), residual = place(of.y.residual), mask = place(of.y.mask);
  const winograd::ForwardArguments settings = {.activation = activation_of(epilogue),
                                               .alpha = epilogue.elu.value_or(1),
                                               .max_pool = epilogue.max_pool};
  const SplitFor split = [=](int team) {
    return order ? winograd::packing_forward_split(convolution, team)
                 : winograd::forward_split(convolution, team);
  };
  assembler.add_kernel(kernel_name(convolution), split, views, [=](std::span<std::byte* const> at) {
    const auto read = [&](size_t index) { return index == 0 ? nullptr : as<const float>(at[index]); };
    winograd::ForwardArguments arguments = settings;
    arguments.src = as<const float>(at[0]);
    arguments.packed_weights = read(1);
    arguments.bias = read(bias);
    arguments.residual = read(residual);
    arguments.mask = read(mask);
    arguments.dst = as<float>(at[2]);
    if (order)
      winograd::packing_forward(convolution, *order, read(1), arguments, as<float>(at[3]), threads);
    else
      winograd::forward(convolution, arguments, as<float>(at[3]), threads);
  });
}

std::optional<winograd::Convolution> winograd_of(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Convolution>(&node.op);
  if (op == nullptr) return std::nullopt;
  return winograd_of(*op, graph.value(node.inputs[0]).shape, graph.value(node.inputs[1]).shape);
}

}  // namespace

int64_t winograd_memory_bytes(const Graph& graph, bool low_memory) {
  int64_t kept = 0, largest_part = 0;
  for (const Node& node : graph.nodes) {
    const auto convolution = winograd_of(graph, node);
    if (!convolution) continue;
    if (graph.training) {
      largest_part = std::max({largest_part, winograd::packed_part_floats(*convolution),
                               winograd::packed_part_floats(winograd::backward_data(*convolution))});
    } else if (!packs_in_each_pass(false, low_memory)) {
      kept += winograd::packed_weights_floats(*convolution) - elements(graph.value(node.inputs[1]).shape);
    }
  }
  return (kept + largest_part) * int64_t{sizeof(float)};
}

int64_t winograd_scratch_bytes(const Graph& graph, const Node& node, const CompileOptions& options) {
  const auto convolution = winograd_of(graph, node);
  if (graph.training || !convolution) return 0;
  const auto floats = packs_in_each_pass(false, options.low_memory) ? winograd::packing_forward_scratch_floats
                                                                    : winograd::forward_scratch_floats;
  return floats(*convolution, options.threads) * int64_t{sizeof(float)};
}

namespace {

void forward_by_winograd(const Convolution& op, const Instruction& instruction, Assembler& assembler) {
  const auto convolution =
      winograd_of(op, assembler.shape(instruction.inputs[0]), assembler.shape(instruction.inputs[1]));
  const auto epilogue = epilogue_of(instruction.post_ops);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const ForwardWeights weights = forward_weights(instruction, *convolution, assembler);
  const ResultView y = define_result(instruction, *epilogue, x, kOverMask, assembler);
  add_forward(*convolution, {x, weights, y}, *epilogue, assembler);
  if (epilogue->sigmoid) add_sigmoid(instruction.outputs[0], y.view, assembler);
}

void data_by_winograd(const ConvolutionBackwardData& op, const Instruction& instruction,
                      Assembler& assembler) {
  const auto convolution = winograd_of(op.forward, op.input, assembler.shape(instruction.inputs[1]));
  const auto epilogue = epilogue_of(instruction.post_ops);
  const View dy = assembler.in_blocks(instruction.inputs[0]);
  const ValueId weight = instruction.inputs[1];
  const View plain = assembler.parameter(weight, plain_desc(assembler.shape(weight)));
  const ForwardWeights weights = {{plain, {}}, winograd::WeightOrder::flipped};
  const ResultView dx = define_result(instruction, *epilogue, dy, kOverMask, assembler);
  add_forward(winograd::backward_data(*convolution), {dy, weights, dx}, *epilogue, assembler);
}

void weights_by_winograd(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                         Assembler& assembler) {
  const auto convolution = winograd_of(op.forward, assembler.shape(instruction.inputs[0]), op.weight);
  add_weight_gradient("winograd_weights", *convolution,
                      {winograd::backward_weights_scratch_floats, winograd::backward_weights,
                       winograd::backward_weights_split},
                      instruction, assembler);
}

}  // namespace

bool winograd_can(const Program& program, const Instruction& instruction) {
  const auto shape = [&](size_t input) { return program.shape(instruction.inputs[input]); };
  const auto epilogue = epilogue_of(instruction.post_ops);
  if (!epilogue) return false;
  if (const auto* op = std::get_if<Convolution>(&instruction.op)) {
    const auto convolution = winograd_of(*op, shape(0), shape(1));
    return convolution && (!epilogue->max_pool || winograd::can_max_pool(*convolution));
  }
  if (const auto* op = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
    const auto convolution = winograd_of(op->forward, op->input, shape(1));
    return convolution && !winograd::why_unsupported(winograd::backward_data(*convolution));
  }
  const auto& op = std::get<ConvolutionBackwardWeights>(instruction.op);
  return winograd_of(op.forward, shape(0), op.weight).has_value();
}

void emit_winograd(const Instruction& instruction, Assembler& assembler) {
  if (const auto* forward = std::get_if<Convolution>(&instruction.op)) {
    forward_by_winograd(*forward, instruction, assembler);
  } else if (const auto* data = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
    data_by_winograd(*data, instruction, assembler);
  } else {
    weights_by_winograd(std::get<ConvolutionBackwardWeights>(instruction.op), instruction, assembler);
  }
}

}  // namespace tacho::native
