#include "engine/native/emit_direct.h"

#include <algorithm>

#include "engine/native/convolution_epilogue.h"
#include "engine/native/convolution_weights.h"
#include "kernels/direct/direct.h"

namespace tacho::native {
namespace {

// Sums of one chunk of channels after the other go where the result will be.
constexpr bool kOverTheMask = false;

// The convolution as the kernel sees it; nothing where it cannot compute it.
std::optional<direct::Convolution> direct_of(const Convolution& op, const Shape& input, const Shape& weight) {
  const size_t axes = input.size() - 2;
  const bool dilated = std::ranges::any_of(op.dilation, [](int64_t dilation) { return dilation != 1; });
  if ((axes != 2 && axes != 3) || op.groups != 1 || dilated) return std::nullopt;
  direct::Convolution result = {.batch = input[0], .in_channels = weight[1], .out_channels = weight[0]};
  for (size_t axis = 0; axis < axes; ++axis) {
    const size_t at = 3 - axes + axis;
    result.kernel[at] = weight[2 + axis];
    result.stride[at] = op.stride[axis];
    result.extents[at] = input[2 + axis];
    result.padding[at] = op.padding[axis];
  }
  if (direct::why_unsupported(result)) return std::nullopt;
  return result;
}

// The same for an instruction of any of the three passes.
std::optional<direct::Convolution> direct_of(const Program& program, const Instruction& instruction) {
  const auto shape = [&](int input) { return program.shape(instruction.inputs[static_cast<size_t>(input)]); };
  if (const auto* op = std::get_if<Convolution>(&instruction.op)) return direct_of(*op, shape(0), shape(1));
  if (const auto* op = std::get_if<ConvolutionBackwardData>(&instruction.op))
    return direct_of(op->forward, op->input, shape(1));
  const auto& op = std::get<ConvolutionBackwardWeights>(instruction.op);
  return direct_of(op.forward, shape(0), op.weight);
}

Packing packing_of(const direct::Convolution& convolution, direct::Direction direction, int threads) {
  return {direct::packed_weights_floats(convolution, direction), [=](const float* plain, float* packed) {
            direct::pack_weights(convolution, direction, plain, packed, threads);
          }};
}

// What is read, and where sums go.
struct GatherViews {
  View read;
  ConvolutionWeights weights;
  ResultView result;
};

void add_gather(const direct::Convolution& convolution, direct::Direction direction, const GatherViews& of,
                bool relu, Assembler& assembler) {
  const int threads = assembler.threads();
  std::vector<View> views = {
      of.read, of.weights.weight, of.result.view,
      assembler.scratch(floats_desc(direct::gather_scratch_floats(convolution, direction, threads)))};
  const auto place = [&](const std::optional<View>& view) -> size_t {  // 0 for none
    if (!view) return 0;
    views.push_back(*view);
    return views.size() - 1;
  };
  const size_t bias = place(of.weights.bias), residual = place(of.result.residual),
               mask = place(of.result.mask);
  assembler.add_kernel("direct", views, [=](std::span<std::byte* const> at) {
    const auto read = [&](size_t index) { return index == 0 ? nullptr : as<const float>(at[index]); };
    direct::gather(convolution, direction,
                   {.read = as<const float>(at[0]),
                    .packed_weights = as<const float>(at[1]),
                    .bias = read(bias),
                    .residual = read(residual),
                    .mask = read(mask),
                    .relu = relu,
                    .written = as<float>(at[2])},
                   as<float>(at[3]), threads);
  });
}

void forward_by_direct(direct::Convolution convolution, const Instruction& instruction,
                       Assembler& assembler) {
  const Epilogue epilogue = *epilogue_of(instruction.post_ops);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const auto direction = direct::Direction::forward;
  const ConvolutionWeights weights =
      packed_weights(instruction, packing_of(convolution, direction, assembler.threads()), assembler);
  const ResultView y = define_result(instruction, epilogue, x, kOverTheMask, assembler);
  convolution.src_batch_stride = batch_stride(x.desc);
  convolution.dst_batch_stride = batch_stride(y.view.desc);
  add_gather(convolution, direction, {x, weights, y}, epilogue.relu, assembler);
  if (epilogue.elu) add_elu(*epilogue.elu, y.view, assembler);
  if (epilogue.sigmoid) add_sigmoid(instruction.outputs[0], y.view, assembler);
}

void data_by_direct(direct::Convolution convolution, const Instruction& instruction, Assembler& assembler) {
  const Epilogue epilogue = *epilogue_of(instruction.post_ops);
  const View dy = assembler.in_blocks(instruction.inputs[0]);
  const auto direction = direct::Direction::backward;
  const ConvolutionWeights weights =
      packed_weights(instruction, packing_of(convolution, direction, assembler.threads()), assembler);
  const ResultView dx = define_result(instruction, epilogue, dy, kOverTheMask, assembler);
  convolution.src_batch_stride = batch_stride(dx.view.desc);
  convolution.dst_batch_stride = batch_stride(dy.desc);
  add_gather(convolution, direction, {dy, weights, dx}, false, assembler);
}

void weights_by_direct(direct::Convolution convolution, const Instruction& instruction,
                       Assembler& assembler) {
  const auto& op = std::get<ConvolutionBackwardWeights>(instruction.op);
  const int threads = assembler.threads();
  const View x = assembler.in_blocks(instruction.inputs[0]),
             dy = assembler.moved_to_blocks(instruction.inputs[1]);
  convolution.src_batch_stride = batch_stride(x.desc);
  convolution.dst_batch_stride = batch_stride(dy.desc);
  const View scratch =
      assembler.scratch(floats_desc(direct::backward_weights_scratch_floats(convolution, threads)));
  std::vector<View> views = {x, dy, assembler.define(instruction.outputs[0], plain_desc(op.weight)), scratch};
  if (op.bias) views.push_back(assembler.define(instruction.outputs[1], plain_desc({op.weight[0]})));
  assembler.add_kernel("direct_weights", views, [=, has_bias = op.bias](std::span<std::byte* const> at) {
    const direct::BackwardWeightsArguments arguments = {.src = as<const float>(at[0]),
                                                        .diff_dst = as<const float>(at[1]),
                                                        .diff_weights = as<float>(at[2]),
                                                        .diff_bias = has_bias ? as<float>(at[4]) : nullptr};
    direct::backward_weights(convolution, arguments, as<float>(at[3]), threads);
  });
}

}  // namespace

bool direct_can(const Program& program, const Instruction& instruction) {
  const auto epilogue = epilogue_of(instruction.post_ops);
  return direct_of(program, instruction) && epilogue && !epilogue->max_pool;
}

void emit_direct(const Instruction& instruction, Assembler& assembler) {
  const direct::Convolution convolution = *direct_of(assembler.program(), instruction);
  if (std::holds_alternative<Convolution>(instruction.op)) {
    forward_by_direct(convolution, instruction, assembler);
  } else if (std::holds_alternative<ConvolutionBackwardData>(instruction.op)) {
    data_by_direct(convolution, instruction, assembler);
  } else {
    weights_by_direct(convolution, instruction, assembler);
  }
}

}  // namespace tacho::native
