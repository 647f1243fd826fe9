#include "engine/native/emit_batch_norm_blocks.h"

#include <algorithm>

#include "engine/native/fold.h"
#include "kernels/batch_norm/batch_norm.h"

namespace tacho::native {
namespace {

using dnnl::memory;

int64_t round_up_to_block(int64_t channels) { return (channels + kOwnBlock - 1) / kOwnBlock * kOwnBlock; }

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

// In training: no mask is kept.
void emit_training(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
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

}  // namespace

void emit_in_blocks(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  if (op.training) return emit_training(op, instruction, assembler);
  if (assembler.is_training()) return emit_again(op, instruction, assembler);
  emit_scale_shift(op, instruction, assembler);
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

}  // namespace tacho::native
