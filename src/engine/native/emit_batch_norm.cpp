#include "base/error.h"
#include "engine/native/emit.h"
#include "engine/native/emit_batch_norm_blocks.h"
#include "engine/native/onednn.h"
#include "engine/native/rewrite.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

using dnnl::batch_normalization_backward;
using dnnl::batch_normalization_forward;
using dnnl::memory;
using dnnl::normalization_flags;

normalization_flags flags_of(bool with_relu, bool fixed_statistics) {
  normalization_flags flags = normalization_flags::use_scale | normalization_flags::use_shift;
  if (with_relu) flags = flags | normalization_flags::fuse_norm_relu;
  if (fixed_statistics) flags = flags | normalization_flags::use_global_stats;
  return flags;
}

// PyTorch's rule: the running variance takes in the unbiased variance of the batch.
void update_running(float* running, const float* batch, int64_t channels, double momentum,
                    double correction) {
  for (int64_t c = 0; c < channels; ++c) {
    running[c] = static_cast<float>((1 - momentum) * running[c] + momentum * correction * batch[c]);
  }
}

void add_running_update(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const Shape& shape = assembler.shape(instruction.inputs[0]);
  const int64_t channels = shape[1];
  const SumOverDevices* sums = assembler.batch_norm_sums();
  const int devices = sums == nullptr ? 1 : sums->devices();
  const auto count = static_cast<double>(devices * (elements(shape) / channels));
  const double correction = count / (count - 1);
  const double momentum = op.momentum;
  assembler.add_kernel(
      "running_statistics", by_one_thread(),
      {assembler.view(instruction.outputs[1]), assembler.view(instruction.outputs[2]),
       assembler.statistic(instruction.inputs[3]), assembler.statistic(instruction.inputs[4])},
      [=](std::span<std::byte* const> at) {
        update_running(as<float>(at[2]), as<float>(at[0]), channels, momentum, 1);
        update_running(as<float>(at[3]), as<float>(at[1]), channels, momentum, correction);
      });
}

// oneDNN has no place between its sums and what it makes of them.
void refuse_sums_over_devices(const Instruction& instruction, const Assembler& assembler) {
  if (assembler.batch_norm_sums() == nullptr) return;
  if (!blocked::supported()) throw UserError("--batch-norm sync: engine native needs AVX2 for it");
  throw UserError("--batch-norm sync: {}: engine native does that for images and volumes, not for {}",
                  instruction.name, to_string(assembler.shape(instruction.inputs[0])));
}

}  // namespace

void emit_op(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  if (normalizes_in_blocks(assembler.program(), instruction.inputs[0])) {
    emit_in_blocks(op, instruction, assembler);
    if (op.training) add_running_update(op, instruction, assembler);
    return;
  }
  const View x = assembler.view(instruction.inputs[0]);
  const auto channels = plain_desc({assembler.shape(instruction.inputs[0])[1]});
  const bool with_relu = !instruction.post_ops.empty();
  const auto pd =
      describe_batch_norm(assembler.engine(), assembler.attributes(), assembler.forward_kind(), x.desc,
                          static_cast<float>(op.epsilon), flags_of(with_relu, !op.training));

  std::vector<Argument> arguments = {{DNNL_ARG_SRC, x},
                                     {DNNL_ARG_SCALE, assembler.parameter(instruction.inputs[1], channels)},
                                     {DNNL_ARG_SHIFT, assembler.parameter(instruction.inputs[2], channels)}};
  if (!op.training) {
    arguments.emplace_back(DNNL_ARG_MEAN, assembler.statistic(instruction.inputs[3]));
    arguments.emplace_back(DNNL_ARG_VARIANCE, assembler.statistic(instruction.inputs[4]));
    arguments.emplace_back(DNNL_ARG_DST, assembler.define_over(instruction.outputs[0], x));
    assembler.add_primitive(batch_normalization_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                            std::move(arguments));
    return;
  }
  refuse_sums_over_devices(instruction, assembler);
  // oneDNN's backward wants the variance, so that is what stands for the graph's inverse deviation here.
  const View mean = assembler.define(instruction.outputs[1], channels);
  const View variance = assembler.define(instruction.outputs[2], channels);
  arguments.emplace_back(DNNL_ARG_DST, assembler.define(instruction.outputs[0], x.desc));
  arguments.emplace_back(DNNL_ARG_MEAN, mean);
  arguments.emplace_back(DNNL_ARG_VARIANCE, variance);
  if (with_relu) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, assembler.define(instruction.outputs[3], pd.workspace_desc()));
  }
  assembler.add_primitive(batch_normalization_forward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
  add_running_update(op, instruction, assembler);
  assembler.batch_norm_hints.emplace(instruction.outputs[1], pd);
}

void emit_op(const BatchNormBackward& op, const Instruction& instruction, Assembler& assembler) {
  if (normalizes_in_blocks(assembler.program(), instruction.inputs[0]))
    return emit_in_blocks(op, instruction, assembler);
  const View x = assembler.view(instruction.inputs[0]);
  const auto channels = plain_desc({assembler.shape(instruction.inputs[0])[1]});
  const auto& hint = assembler.batch_norm_hints.at(instruction.inputs[2]);
  const bool with_relu = instruction.inputs.size() > 5;
  const View dy = assembler.in_layout(instruction.inputs[4], x.desc);
  const auto pd = describe_batch_norm_backward(assembler.engine(), assembler.attributes(), hint, x.desc,
                                               static_cast<float>(op.epsilon), flags_of(with_relu, false));

  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, x},
      {DNNL_ARG_DIFF_DST, dy},
      {DNNL_ARG_MEAN, assembler.view(instruction.inputs[2])},
      {DNNL_ARG_VARIANCE, assembler.view(instruction.inputs[3])},
      {DNNL_ARG_SCALE, assembler.parameter(instruction.inputs[1], channels)},
      {DNNL_ARG_DIFF_SRC, assembler.define_over(instruction.outputs[0], dy)},
      {DNNL_ARG_DIFF_SCALE, assembler.define(instruction.outputs[1], channels)},
      {DNNL_ARG_DIFF_SHIFT, assembler.define(instruction.outputs[2], channels)}};
  if (kNormGradientTakesShift)
    arguments.emplace_back(DNNL_ARG_SHIFT, assembler.parameter(instruction.inputs[1], channels));
  if (with_relu) arguments.emplace_back(DNNL_ARG_WORKSPACE, assembler.view(instruction.inputs[5]));
  assembler.add_primitive(batch_normalization_backward(pd), pd.scratchpad_desc(), pd.impl_info_str(),
                          std::move(arguments));
}

}  // namespace tacho::native
