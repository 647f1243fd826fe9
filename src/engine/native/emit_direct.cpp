#include "engine/native/emit_direct.h"

#include <algorithm>

#include "engine/native/convolution_epilogue.h"
#include "engine/native/convolution_weights.h"
#include "kernels/direct/direct.h"

namespace tacho::native {
namespace {

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

}  // namespace

bool direct_can(const Program& program, const Instruction& instruction) {
  const auto* op = std::get_if<Convolution>(&instruction.op);
  return op != nullptr &&
         direct_of(*op, program.shape(instruction.inputs[0]), program.shape(instruction.inputs[1])) &&
         epilogue_of(instruction.post_ops);
}

void emit_direct(const Convolution& op, const Instruction& instruction, Assembler& assembler) {
  direct::Convolution convolution =
      *direct_of(op, assembler.shape(instruction.inputs[0]), assembler.shape(instruction.inputs[1]));
  const int threads = assembler.threads();
  const Epilogue epilogue = *epilogue_of(instruction.post_ops);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const Packing packing = {
      direct::packed_weights_floats(convolution),
      [=](const float* plain, float* packed) { direct::pack_weights(convolution, plain, packed, threads); }};
  const ConvolutionWeights packed = packed_weights(instruction, packing, assembler);
  const ResultView y = define_result(instruction, epilogue, x, assembler);
  convolution.src_batch_stride = batch_stride(x.desc);
  convolution.dst_batch_stride = batch_stride(y.view.desc);

  std::vector<View> views = {
      x, packed.weight, y.view,
      assembler.scratch(floats_desc(direct::forward_scratch_floats(convolution, threads)))};
  if (packed.bias) views.push_back(*packed.bias);
  if (y.residual) views.push_back(*y.residual);
  assembler.add_kernel("direct", views,
                       [=, has_bias = packed.bias.has_value(), has_residual = y.residual.has_value(),
                        relu = epilogue.relu](std::span<std::byte* const> at) {
                         direct::ForwardArguments arguments = {.src = as<const float>(at[0]),
                                                               .packed_weights = as<const float>(at[1]),
                                                               .relu = relu,
                                                               .dst = as<float>(at[2])};
                         if (has_bias) arguments.bias = as<const float>(at[4]);
                         if (has_residual) arguments.residual = as<const float>(at.back());
                         direct::forward(convolution, arguments, as<float>(at[3]), threads);
                       });
  if (epilogue.elu) add_elu(*epilogue.elu, y.view, assembler);
  if (epilogue.sigmoid) add_sigmoid(instruction.outputs[0], y.view, assembler);
}

}  // namespace tacho::native
