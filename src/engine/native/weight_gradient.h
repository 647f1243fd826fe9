#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/native/assembler.h"
#include "engine/native/layout.h"
#include "kernels/blocked/backward_weights_arguments.h"

namespace tacho::native {

// How a kernel of ours finds the gradient of a convolution's weights.
template<typename Convolution>
struct WeightGradientKernel {
  int64_t (*scratch_floats)(const Convolution&, int threads);
  void (*run)(const Convolution&, const blocked::BackwardWeightsArguments&, float* scratch, int threads);
  Split (*split)(const Convolution&, bool with_bias, int threads);
};

template<typename Convolution>
void add_weight_gradient(const std::string& name, Convolution convolution,
                         const WeightGradientKernel<std::type_identity_t<Convolution>>& kernel,
                         const Instruction& instruction, Assembler& assembler) {
  const auto& op = std::get<ConvolutionBackwardWeights>(instruction.op);
  const int threads = assembler.threads();
  const View x = assembler.in_blocks(instruction.inputs[0]),
             dy = assembler.moved_to_blocks(instruction.inputs[1]);
  convolution.src_batch_stride = batch_stride(x.desc);
  convolution.dst_batch_stride = batch_stride(dy.desc);
  const View scratch = assembler.scratch(floats_desc(kernel.scratch_floats(convolution, threads)));
  std::vector<View> views = {x, dy, assembler.define(instruction.outputs[0], plain_desc(op.weight)), scratch};
  if (op.bias) views.push_back(assembler.define(instruction.outputs[1], plain_desc({op.weight[0]})));
  const SplitFor split = [=, split_of = kernel.split, has_bias = op.bias](int team) {
    return split_of(convolution, has_bias, team);
  };
  assembler.add_kernel(name, split, views,
                       [=, run = kernel.run, has_bias = op.bias](std::span<std::byte* const> at) {
                         const blocked::BackwardWeightsArguments arguments = {
                             .src = as<const float>(at[0]),
                             .diff_dst = as<const float>(at[1]),
                             .diff_weights = as<float>(at[2]),
                             .diff_bias = has_bias ? as<float>(at[4]) : nullptr};
                         run(convolution, arguments, as<float>(at[3]), threads);
                       });
}

}  // namespace tacho::native
