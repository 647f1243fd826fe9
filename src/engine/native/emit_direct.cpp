#include "engine/native/emit_direct.h"

#include <algorithm>

#include "engine/native/convolution_epilogue.h"
#include "engine/native/convolution_weights.h"
#include "engine/native/weight_gradient.h"
#include "kernels/direct/direct.h"

namespace tacho::native {
namespace {

// The convolution as the kernel sees it; nothing where it cannot compute it.
std::optional<direct::Convolution> direct_of(const Convolution& op, const Shape& input, const Shape& weight) {
  const size_t axes = input.size() - 2;
  const bool dilated = std::ranges::any_of(op.dilation, [](int64_t dilation) { return dilation != 1; });
  if ((axes != 2 && axes != 3) || op.groups != 1 || dilated) return std::nullopt;
  direct::Convolution result = {.batch = input[0], .in_channels = weight[1], .out_channels = weight[0]};
  result.lanes = own_block();
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
  return {direct::packed_weights_floats(convolution, direction),
          [=](const float* plain, float* packed) {
            direct::pack_weights(convolution, direction, plain, packed, threads);
          },
          direct::pack_weights_split(convolution, direction)};
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
  const SplitFor split = [=](int team) { return direct::gather_split(convolution, direction, team); };
  assembler.add_kernel("direct", split, views, [=](std::span<std::byte* const> at) {
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

void gather_by_direct(direct::Convolution convolution, direct::Direction direction,
                      const Instruction& instruction, Assembler& assembler) {
  const Epilogue epilogue = *epilogue_of(instruction.post_ops);
  const View read = assembler.in_blocks(instruction.inputs[0]);
  const ConvolutionWeights weights =
      packed_weights(instruction, packing_of(convolution, direction, assembler.threads()), assembler);
  // Sums of one chunk of channels after the other go where the result will be, so not over the mask.
  const ResultView result = define_result(instruction, epilogue, read, false, assembler);
  const bool forward = direction == direct::Direction::forward;
  convolution.src_batch_stride = batch_stride(forward ? read.desc : result.view.desc);
  convolution.dst_batch_stride = batch_stride(forward ? result.view.desc : read.desc);
  add_gather(convolution, direction, {read, weights, result}, epilogue.relu, assembler);
  if (epilogue.elu) add_elu(*epilogue.elu, result.view, assembler);
  if (epilogue.sigmoid) add_sigmoid(instruction.outputs[0], result.view, assembler);
}

}  // namespace

bool direct_can(const Program& program, const Instruction& instruction) {
  const auto epilogue = epilogue_of(instruction.post_ops);
  return direct_of(program, instruction) && epilogue && !epilogue->max_pool;
}

void emit_direct(const Instruction& instruction, Assembler& assembler) {
  const direct::Convolution convolution = *direct_of(assembler.program(), instruction);
  if (std::holds_alternative<Convolution>(instruction.op)) {
    gather_by_direct(convolution, direct::Direction::forward, instruction, assembler);
  } else if (std::holds_alternative<ConvolutionBackwardData>(instruction.op)) {
    gather_by_direct(convolution, direct::Direction::backward, instruction, assembler);
  } else {
    add_weight_gradient(
        "direct_weights", convolution,
        {direct::backward_weights_scratch_floats, direct::backward_weights, direct::backward_weights_split},
        instruction, assembler);
  }
}

}  // namespace tacho::native
