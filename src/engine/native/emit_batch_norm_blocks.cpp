#include "engine/native/emit_batch_norm_blocks.h"

#include <algorithm>

#include "engine/native/fold.h"
#include "kernels/batch_norm/batch_norm.h"

namespace tacho::native {
namespace {

using dnnl::memory;

int64_t round_up_to_block(int64_t channels) { return divide_up(channels, own_block()) * own_block(); }

// One sweep over blocks of channels, which may be slices of a concatenation.
void emit_scale_shift(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const ScaleShift factors = scale_shift(
      assembler.weight(instruction.inputs[1]), assembler.weight(instruction.inputs[2]),
      assembler.weight(instruction.inputs[3]), assembler.weight(instruction.inputs[4]), op.epsilon);
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const bool over_x = x.desc == blocked_desc(dims_of(x.desc)) && !assembler.has_home(instruction.outputs[0]);
  const View y = over_x ? assembler.define_over(instruction.outputs[0], x)
                        : assembler.define_in_blocks(instruction.outputs[0]);
  const blocked::Sweep sweep = sweep_of(x.desc);
  const auto filled_up = [&](const std::vector<double>& values) {
    return assembler.constant(plain_desc({round_up_to_block(sweep.channels)}), {},
                              [values](const Place& place) { std::ranges::copy(values, place.data); });
  };
  const bool relu = !instruction.post_ops.empty();
  assembler.add_kernel(
      relu ? "scale_shift_relu" : "scale_shift", blocked::sweep_split(sweep),
      {x, filled_up(factors.scale), filled_up(factors.shift), y},
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

View scratch_for(const blocked::Sweep& sweep, Assembler& assembler) {
  return assembler.scratch(plain_desc({batch_norm::scratch_floats(sweep)}));
}

void add_normalize(const Norm& norm, double epsilon, bool relu, const View& x, const View& y,
                   Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(x.desc);
  assembler.add_kernel(
      relu ? "normalize_relu" : "normalize", batch_norm::normalize_split(sweep),
      {norm.weight, norm.bias, norm.mean, norm.variance, x, y, scratch_for(sweep, assembler)},
      [=, from = batch_stride(x.desc), to = batch_stride(y.desc)](std::span<std::byte* const> at) {
        batch_norm::normalize(sweep, {as<const float>(at[4]), from}, parameters_at(at, epsilon, relu),
                              {as<float>(at[5]), to}, as<float>(at[6]));
      });
}

// By the statistics of x, which it finds.
void add_normalize_batch(const Norm& norm, double epsilon, bool relu, const View& x, const View& y,
                         Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(x.desc);
  const SplitFor split = [sweep](int threads) { return batch_norm::normalize_batch_split(sweep, threads); };
  assembler.add_kernel(
      relu ? "normalize_batch_relu" : "normalize_batch", split,
      {norm.weight, norm.bias, norm.mean, norm.variance, x, y, scratch_for(sweep, assembler)},
      [=, from = batch_stride(x.desc), to = batch_stride(y.desc)](std::span<std::byte* const> at) {
        batch_norm::normalize_batch(sweep, {as<const float>(at[4]), from}, parameters_at(at, epsilon, relu),
                                    {as<float>(at[2]), as<float>(at[3])}, {as<float>(at[5]), to},
                                    as<float>(at[6]));
      });
}

// Two numbers a channel, as doubles.
View numbers_to_sum(const blocked::Sweep& sweep, Assembler& assembler) {
  return assembler.temporary(plain_desc({2 * sweep.channels * int64_t{sizeof(double) / sizeof(float)}}));
}
std::span<double> numbers_at(std::byte* address, const blocked::Sweep& sweep) {
  return {as<double>(address), static_cast<size_t>(2 * sweep.channels)};
}

// Channels of a value: their statistics may be known, since it is a concatenation and another batch norm has
// read that part of it before.
struct Piece {
  int64_t channel, channels;
  std::optional<std::pair<View, View>> known;
};

void list_pieces(ValueId x, int64_t channel, const Assembler& assembler, std::vector<Piece>& pieces) {
  const auto known = assembler.batch_statistics.find(x);
  const auto parts = assembler.joined_parts(x);
  if (known != assembler.batch_statistics.end() || parts.empty()) {
    pieces.push_back({channel, assembler.shape(x)[1], {}});
    if (known != assembler.batch_statistics.end()) pieces.back().known = known->second;
    return;
  }
  for (const ValueId part : parts) {
    list_pieces(part, channel, assembler, pieces);
    channel += assembler.shape(part)[1];
  }
}

void add_known_statistics(const Piece& piece, const Norm& norm, Assembler& assembler) {
  assembler.add_kernel("known_statistics", by_one_thread(),
                       {piece.known->first, piece.known->second, norm.mean, norm.variance},
                       [channel = piece.channel, count = piece.channels](std::span<std::byte* const> at) {
                         std::copy_n(as<const float>(at[0]), count, as<float>(at[2]) + channel);
                         std::copy_n(as<const float>(at[1]), count, as<float>(at[3]) + channel);
                       });
}

void add_statistics(const std::vector<Piece>& pieces, const View& x, const Norm& norm, Assembler& assembler) {
  for (const Piece& piece : pieces) {
    if (piece.known) {
      add_known_statistics(piece, norm, assembler);
      continue;
    }
    const View part = {x.slot, channel_slice(x.desc, piece.channel, piece.channels)};
    const blocked::Sweep sweep = sweep_of(part.desc);
    assembler.add_kernel(
        "batch_statistics", batch_norm::statistics_split(sweep),
        {part, norm.mean, norm.variance, scratch_for(sweep, assembler)},
        [sweep, from = batch_stride(part.desc), channel = piece.channel](std::span<std::byte* const> at) {
          batch_norm::statistics(sweep, {as<const float>(at[0]), from},
                                 {as<float>(at[1]) + channel, as<float>(at[2]) + channel}, as<float>(at[3]));
        });
  }
}

// Of the batches of all devices.
void add_statistics_over_devices(SumOverDevices& sums, const View& x, const Norm& norm,
                                 Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(x.desc);
  const View moments = numbers_to_sum(sweep, assembler);
  assembler.add_kernel(
      "batch_moments", batch_norm::statistics_split(sweep), {x, moments, scratch_for(sweep, assembler)},
      [sweep, from = batch_stride(x.desc)](std::span<std::byte* const> at) {
        batch_norm::moments(sweep, {as<const float>(at[0]), from}, as<double>(at[1]), as<float>(at[2]));
      });
  assembler.add_kernel("sum_over_devices", by_one_thread(), {moments, norm.mean, norm.variance},
                       [sweep, &sums](std::span<std::byte* const> at) {
                         const std::span<double> numbers = numbers_at(at[0], sweep);
                         sums.sum(numbers);
                         batch_norm::statistics_of_sums(sweep, numbers.data(), sums.devices(),
                                                        {as<float>(at[1]), as<float>(at[2])});
                       });
}

// In training: no mask is kept.
void emit_training(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const memory::desc channels = plain_desc({dims_of(x.desc)[1]});
  const Norm norm = {assembler.parameter(instruction.inputs[1], channels),
                     assembler.parameter(instruction.inputs[2], channels),
                     assembler.define(instruction.outputs[1], channels),
                     assembler.define(instruction.outputs[2], channels)};
  const bool relu = !instruction.post_ops.empty();
  const auto y = [&] { return assembler.define_in_blocks(instruction.outputs[0]); };
  if (SumOverDevices* sums = assembler.batch_norm_sums()) {
    add_statistics_over_devices(*sums, x, norm, assembler);
    return add_normalize(norm, op.epsilon, relu, x, y(), assembler);
  }
  std::vector<Piece> pieces;
  list_pieces(instruction.inputs[0], 0, assembler, pieces);
  const bool is_whole = pieces.size() == 1 && !pieces[0].known;
  if (!is_whole) add_statistics(pieces, x, norm, assembler);
  const auto add = is_whole ? add_normalize_batch : add_normalize;
  add(norm, op.epsilon, relu, x, y(), assembler);
  assembler.batch_statistics[instruction.inputs[0]] = {norm.mean, norm.variance};
}

// What a training pass normalized before, once more from the same statistics.
void emit_again(const BatchNorm& op, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_blocks(instruction.inputs[0]);
  const memory::desc channels = plain_desc({dims_of(x.desc)[1]});
  const Norm norm = {assembler.parameter(instruction.inputs[1], channels),
                     assembler.parameter(instruction.inputs[2], channels),
                     assembler.view(instruction.inputs[3]), assembler.view(instruction.inputs[4])};
  const View y = assembler.define_in_blocks(instruction.outputs[0]);
  add_normalize(norm, op.epsilon, !instruction.post_ops.empty(), x, y, assembler);
}

struct BackwardViews {
  Norm norm;
  View x, dy, dx, dweight, dbias;
  std::optional<View> added;  // to dx
};

// At the end of a kernel's addresses, where there is one.
blocked::Source added_at(std::span<std::byte* const> at, std::optional<int64_t> stride) {
  if (!stride) return {};
  return {as<const float>(at.back()), *stride};
}
std::optional<int64_t> stride_of(const std::optional<View>& view) {
  if (!view) return std::nullopt;
  return batch_stride(view->desc);
}

void add_backward(const BackwardViews& of, double epsilon, bool relu, Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(of.x.desc);
  const auto& [weight, bias, mean, variance] = of.norm;
  std::vector<View> views = {weight, bias,  mean,       variance, of.x,
                             of.dy,  of.dx, of.dweight, of.dbias, scratch_for(sweep, assembler)};
  if (of.added) views.push_back(*of.added);
  assembler.add_kernel(
      relu ? "batch_norm_relu_backward" : "batch_norm_backward",
      [sweep](int threads) { return batch_norm::backward_split(sweep, threads); }, views,
      [=, x_stride = batch_stride(of.x.desc), dy_stride = batch_stride(of.dy.desc),
       dx_stride = batch_stride(of.dx.desc),
       added_stride = stride_of(of.added)](std::span<std::byte* const> at) {
        batch_norm::backward(
            sweep, {as<const float>(at[4]), x_stride}, {as<const float>(at[5]), dy_stride},
            parameters_at(at, epsilon, relu),
            {{as<float>(at[6]), dx_stride}, as<float>(at[7]), as<float>(at[8]), added_at(at, added_stride)},
            as<float>(at[9]));
      });
}

// The sums of dweight and then of dbias over all devices.
View add_backward_sums(SumOverDevices& sums, const BackwardViews& of, Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(of.x.desc);
  const View result = assembler.temporary(plain_desc({2 * sweep.channels}));
  assembler.add_kernel(
      "sum_over_devices", by_one_thread(), {of.dweight, of.dbias, numbers_to_sum(sweep, assembler), result},
      [sweep, &sums](std::span<std::byte* const> at) {
        const std::span<double> numbers = numbers_at(at[2], sweep);
        const auto dbias = std::copy_n(as<const float>(at[0]), sweep.channels, numbers.begin());
        std::copy_n(as<const float>(at[1]), sweep.channels, dbias);
        sums.sum(numbers);
        std::ranges::transform(numbers, as<float>(at[3]), [](double sum) { return static_cast<float>(sum); });
      });
  return result;
}

// With the statistics of all devices' batches. dweight and dbias stay the device's own: they are averaged
// with all other gradients.
void add_backward_over_devices(SumOverDevices& sums, const BackwardViews& of, double epsilon, bool relu,
                               Assembler& assembler) {
  const blocked::Sweep sweep = sweep_of(of.x.desc);
  const auto& [weight, bias, mean, variance] = of.norm;
  const int64_t x_stride = batch_stride(of.x.desc), dy_stride = batch_stride(of.dy.desc);
  assembler.add_kernel(
      relu ? "batch_norm_relu_backward_parameters" : "batch_norm_backward_parameters",
      batch_norm::backward_parameters_split(sweep),
      {weight, bias, mean, variance, of.x, of.dy, of.dweight, of.dbias, scratch_for(sweep, assembler)},
      [=](std::span<std::byte* const> at) {
        batch_norm::backward_parameters(sweep, {as<const float>(at[4]), x_stride},
                                        {as<const float>(at[5]), dy_stride}, parameters_at(at, epsilon, relu),
                                        as<float>(at[6]), as<float>(at[7]), as<float>(at[8]));
      });
  const View all = add_backward_sums(sums, of, assembler);
  std::vector<View> views = {
      weight, bias, mean, variance, of.x, of.dy, of.dx, all, scratch_for(sweep, assembler)};
  if (of.added) views.push_back(*of.added);
  assembler.add_kernel(relu ? "batch_norm_relu_backward_data" : "batch_norm_backward_data",
                       batch_norm::backward_data_split(sweep), views,
                       [=, devices = sums.devices(), dx_stride = batch_stride(of.dx.desc),
                        added_stride = stride_of(of.added)](std::span<std::byte* const> at) {
                         const float* dweight = as<const float>(at[7]);
                         batch_norm::backward_data(
                             sweep, {as<const float>(at[4]), x_stride}, {as<const float>(at[5]), dy_stride},
                             parameters_at(at, epsilon, relu), {dweight, dweight + sweep.channels, devices},
                             added_at(at, added_stride), {as<float>(at[6]), dx_stride}, as<float>(at[8]));
                       });
}

// The other gradient of the same value, where the two are added up.
std::optional<View> added_to(const Instruction& instruction, Assembler& assembler) {
  if (instruction.post_ops.empty()) return std::nullopt;
  return assembler.in_blocks(instruction.post_ops[0].operand);
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
  const memory::desc channels = plain_desc({dims_of(x.desc)[1]});
  const bool relu = instruction.inputs.size() > 5;
  const View weight = assembler.parameter(instruction.inputs[1], channels);
  // Only the mask of a ReLU depends on it.
  const View bias = relu ? assembler.parameter(instruction.inputs[6], channels) : weight;
  const std::optional<View> added = added_to(instruction, assembler);
  const bool over_dy = !added && dy.desc == blocked_desc(dims_of(dy.desc));
  const View dx = added     ? assembler.define_over(instruction.outputs[0], *added)
                  : over_dy ? assembler.define_over(instruction.outputs[0], dy)
                            : assembler.define_in_blocks(instruction.outputs[0]);
  const BackwardViews views = {
      {weight, bias, assembler.view(instruction.inputs[2]), assembler.view(instruction.inputs[3])},
      x,
      dy,
      dx,
      assembler.define(instruction.outputs[1], channels),
      assembler.define(instruction.outputs[2], channels),
      added};
  if (SumOverDevices* sums = assembler.batch_norm_sums()) {
    add_backward_over_devices(*sums, views, op.epsilon, relu, assembler);
  } else {
    add_backward(views, op.epsilon, relu, assembler);
  }
}

}  // namespace tacho::native
