#include <algorithm>

#include "engine/native/emit.h"
#include "engine/native/fold.h"
#include "kernels/batch_norm/batch_norm.h"

namespace tacho::native {
namespace {

using dnnl::memory;
using dnnl::normalization_flags;
using Forward = dnnl::batch_normalization_forward;
using Backward = dnnl::batch_normalization_backward;

normalization_flags flags_of(bool with_relu, bool fixed_statistics) {
  normalization_flags flags = normalization_flags::use_scale | normalization_flags::use_shift;
  if (with_relu) flags = flags | normalization_flags::fuse_norm_relu;
  if (fixed_statistics) flags = flags | normalization_flags::use_global_stats;
  return flags;
}

int64_t round_up_to_block(int64_t channels) { return (channels + kOwnBlock - 1) / kOwnBlock * kOwnBlock; }

// PyTorch's rule: the running variance takes in the unbiased variance of the batch.
void update_running(float* running, const float* batch, int64_t channels, double momentum,
                    double correction) {
  for (int64_t c = 0; c < channels; ++c) {
    running[c] = static_cast<float>((1 - momentum) * running[c] + momentum * correction * batch[c]);
  }
}

void add_running_update(const BatchNorm& op, const Instruction& instruction, const View& mean,
                        const View& variance, Assembler& assembler) {
  const Shape& shape = assembler.shape(instruction.inputs[0]);
  const int64_t channels = shape[1];
  const auto count = static_cast<double>(elements(shape) / channels);
  const double correction = count / (count - 1);
  const double momentum = op.momentum;
  assembler.add_kernel("running_statistics",
                       {mean, variance, assembler.statistic(instruction.inputs[3]),
                        assembler.statistic(instruction.inputs[4])},
                       [=](std::span<std::byte* const> at) {
                         update_running(as<float>(at[2]), as<float>(at[0]), channels, momentum, 1);
                         update_running(as<float>(at[3]), as<float>(at[1]), channels, momentum, correction);
                       });
}

blocked::Sweep sweep_of(const View& view) {
  const memory::dims dims = view.desc.dims();
  return {.batch = dims[0], .channels = dims[1], .cells = elements(spatial(dims))};
}

// One sweep over blocks of channels, which may be slices of a concatenation.
void emit_scale_shift(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const ScaleShift factors = scale_shift(
      assembler.weight(instruction.inputs[1]), assembler.weight(instruction.inputs[2]),
      assembler.weight(instruction.inputs[3]), assembler.weight(instruction.inputs[4]), op.epsilon);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const View y = x.desc == blocked_desc(x.desc.dims()) ? assembler.define_over(instruction.outputs[0], x)
                                                       : assembler.define_in_blocks(instruction.outputs[0]);
  const blocked::Sweep sweep = sweep_of(x);
  const auto filled_up = [&](const std::vector<double>& values) {
    return assembler.constant(plain_desc({round_up_to_block(sweep.channels)}), {},
                              [values](const Place& place) { std::ranges::copy(values, place.data); });
  };
  const bool relu = !instruction.post_ops.empty();
  assembler.add_kernel(
      relu ? "scale_shift_relu" : "scale_shift", {x, filled_up(factors.scale), filled_up(factors.shift), y},
      [=, from = batch_stride(x.desc), to = batch_stride(y.desc)](std::span<std::byte* const> at) {
        blocked::scale_shift(sweep, {as<const float>(at[0]), from}, as<const float>(at[1]),
                             as<const float>(at[2]), relu, {as<float>(at[3]), to});
      });
}

struct Norm {
  View weight, bias, mean, variance;
};

// The parameters from addresses that begin with weight, bias, mean and variance.
batch_norm::Parameters parameters_at(std::span<std::byte* const> at, double epsilon, bool relu) {
  return {as<const float>(at[0]),
          as<const float>(at[1]),
          as<const float>(at[2]),
          as<const float>(at[3]),
          epsilon,
          relu};
}

void add_normalize(const Norm& norm, double epsilon, bool relu, const View& x, const View& y,
                   Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(x);
  const View scratch = assembler.scratch(plain_desc({batch_norm::scratch_floats(sweep)}));
  assembler.add_kernel(
      relu ? "normalize_relu" : "normalize",
      {norm.weight, norm.bias, norm.mean, norm.variance, x, y, scratch},
      [=, from = batch_stride(x.desc), to = batch_stride(y.desc)](std::span<std::byte* const> at) {
        batch_norm::normalize(sweep, {as<const float>(at[4]), from}, parameters_at(at, epsilon, relu),
                              {as<float>(at[5]), to}, as<float>(at[6]));
      });
}

// In training, by our own kernels: no mask is kept.
void emit_in_blocks(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const blocked::Sweep sweep = sweep_of(x);
  const memory::desc channels = plain_desc({sweep.channels});
  const Norm norm = {assembler.parameter(instruction.inputs[1], channels),
                     assembler.parameter(instruction.inputs[2], channels),
                     assembler.define(instruction.outputs[1], channels),
                     assembler.define(instruction.outputs[2], channels)};
  const View scratch = assembler.scratch(plain_desc({batch_norm::scratch_floats(sweep)}));
  assembler.add_kernel("batch_statistics", {x, norm.mean, norm.variance, scratch},
                       [sweep, from = batch_stride(x.desc)](std::span<std::byte* const> at) {
                         batch_norm::statistics(sweep, {as<const float>(at[0]), from},
                                                {as<float>(at[1]), as<float>(at[2])}, as<float>(at[3]));
                       });
  const View y = assembler.define_in_blocks(instruction.outputs[0]);
  add_normalize(norm, op.epsilon, !instruction.post_ops.empty(), x, y, assembler);
  add_running_update(op, instruction, norm.mean, norm.variance, assembler);
}

// What a training pass normalized before, once more from the same statistics.
void emit_again(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const memory::desc channels = plain_desc({x.desc.dims()[1]});
  const Norm norm = {assembler.parameter(instruction.inputs[1], channels),
                     assembler.parameter(instruction.inputs[2], channels),
                     assembler.view(instruction.inputs[3]), assembler.view(instruction.inputs[4])};
  const View y = assembler.define_in_blocks(instruction.outputs[0]);
  add_normalize(norm, op.epsilon, !instruction.post_ops.empty(), x, y, assembler);
}

void emit_in_blocks(const BatchNormBackward& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const View dy = assembler.in_blocks(instruction.inputs[4]);
  const blocked::Sweep sweep = sweep_of(x);
  const memory::desc channels = plain_desc({sweep.channels});
  const bool relu = instruction.inputs.size() > 5;
  const View weight = assembler.parameter(instruction.inputs[1], channels);
  const View bias = relu ? assembler.parameter(instruction.inputs[6], channels) : weight;
  const View dx = dy.desc == blocked_desc(dy.desc.dims())
                      ? assembler.define_over(instruction.outputs[0], dy)
                      : assembler.define_in_blocks(instruction.outputs[0]);
  const std::vector<View> views = {weight,
                                   bias,  // only the mask of a ReLU depends on it
                                   assembler.view(instruction.inputs[2]),
                                   assembler.view(instruction.inputs[3]),
                                   x,
                                   dy,
                                   dx,
                                   assembler.define(instruction.outputs[1], channels),
                                   assembler.define(instruction.outputs[2], channels),
                                   assembler.scratch(plain_desc({batch_norm::scratch_floats(sweep)}))};
  assembler.add_kernel(
      relu ? "batch_norm_relu_backward" : "batch_norm_backward", views,
      [=, epsilon = op.epsilon, x_stride = batch_stride(x.desc), dy_stride = batch_stride(dy.desc),
       dx_stride = batch_stride(dx.desc)](std::span<std::byte* const> at) {
        batch_norm::backward(sweep, {as<const float>(at[4]), x_stride}, {as<const float>(at[5]), dy_stride},
                             parameters_at(at, epsilon, relu),
                             {{as<float>(at[6]), dx_stride}, as<float>(at[7]), as<float>(at[8])},
                             as<float>(at[9]));
      });
}

// Whether our own kernels can compute a batch norm of this value.
bool by_blocks(ValueId x, const Assembler& assembler) {
  return assembler.shape(x).size() > 3 && blocked::supported();
}

}  // namespace

void emit_op(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  if (by_blocks(instruction.inputs[0], assembler)) {
    if (op.training) return emit_in_blocks(op, instruction, assembler);
    return assembler.is_training() ? emit_again(op, instruction, assembler)
                                   : emit_scale_shift(op, instruction, assembler);
  }
  const View x = assembler.view(instruction.inputs[0]);
  const auto channels = plain_desc({assembler.shape(instruction.inputs[0])[1]});
  const bool with_relu = !instruction.post_ops.empty();
  const Forward::desc desc(assembler.forward_kind(), x.desc, static_cast<float>(op.epsilon),
                           flags_of(with_relu, !op.training));
  const Forward::primitive_desc pd(desc, assembler.attributes(), assembler.engine());

  std::vector<Argument> arguments = {{DNNL_ARG_SRC, x},
                                     {DNNL_ARG_SCALE, assembler.parameter(instruction.inputs[1], channels)},
                                     {DNNL_ARG_SHIFT, assembler.parameter(instruction.inputs[2], channels)}};
  if (!op.training) {
    arguments.emplace_back(DNNL_ARG_MEAN, assembler.statistic(instruction.inputs[3]));
    arguments.emplace_back(DNNL_ARG_VARIANCE, assembler.statistic(instruction.inputs[4]));
    arguments.emplace_back(DNNL_ARG_DST, assembler.define_over(instruction.outputs[0], x));
    assembler.add_primitive(Forward(pd), pd.scratchpad_desc(), pd.impl_info_str(), std::move(arguments));
    return;
  }
  // oneDNN's backward wants the variance, so that is what stands for the graph's inverse deviation here.
  const View mean = assembler.define(instruction.outputs[1], channels);
  const View variance = assembler.define(instruction.outputs[2], channels);
  arguments.emplace_back(DNNL_ARG_DST, assembler.define(instruction.outputs[0], x.desc));
  arguments.emplace_back(DNNL_ARG_MEAN, mean);
  arguments.emplace_back(DNNL_ARG_VARIANCE, variance);
  if (with_relu) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, assembler.define(instruction.outputs[3], pd.workspace_desc()));
  }
  assembler.add_primitive(Forward(pd), pd.scratchpad_desc(), pd.impl_info_str(), std::move(arguments));
  add_running_update(op, instruction, mean, variance, assembler);
  assembler.batch_norm_hints.emplace(instruction.outputs[1], pd);
}

void emit_op(const BatchNormBackward& op, const Instruction& instruction, Assembler& assembler) {
  if (by_blocks(instruction.inputs[0], assembler)) return emit_in_blocks(op, instruction, assembler);
  const View x = assembler.view(instruction.inputs[0]);
  const auto channels = plain_desc({assembler.shape(instruction.inputs[0])[1]});
  const auto& hint = assembler.batch_norm_hints.at(instruction.inputs[2]);
  const bool with_relu = instruction.inputs.size() > 5;
  const View dy = assembler.in_layout(instruction.inputs[4], x.desc);
  const Backward::desc desc(dnnl::prop_kind::backward, x.desc, x.desc, static_cast<float>(op.epsilon),
                            flags_of(with_relu, false));
  const Backward::primitive_desc pd(desc, assembler.attributes(), assembler.engine(), hint);

  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, x},
      {DNNL_ARG_DIFF_DST, dy},
      {DNNL_ARG_MEAN, assembler.view(instruction.inputs[2])},
      {DNNL_ARG_VARIANCE, assembler.view(instruction.inputs[3])},
      {DNNL_ARG_SCALE, assembler.parameter(instruction.inputs[1], channels)},
      {DNNL_ARG_SHIFT,
       assembler.parameter(instruction.inputs[1], channels)},  // counted by oneDNN 2, never read
      {DNNL_ARG_DIFF_SRC, assembler.define_over(instruction.outputs[0], dy)},
      {DNNL_ARG_DIFF_SCALE, assembler.define(instruction.outputs[1], channels)},
      {DNNL_ARG_DIFF_SHIFT, assembler.define(instruction.outputs[2], channels)}};
  if (with_relu) arguments.emplace_back(DNNL_ARG_WORKSPACE, assembler.view(instruction.inputs[5]));
  assembler.add_primitive(Backward(pd), pd.scratchpad_desc(), pd.impl_info_str(), std::move(arguments));
}

}  // namespace tacho::native
