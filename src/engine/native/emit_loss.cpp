#include "engine/native/emit.h"
#include "engine/native/plain_kernels.h"
#include "graph/dropout.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

using At = std::span<std::byte* const>;

// Images, channels and cells per channel of a tensor.
struct Planes {
  explicit Planes(const Shape& shape)
      : images(shape[0]), channels(shape[1]), cells(elements(shape) / (shape[0] * shape[1])) {}
  int64_t images, channels, cells;
};

// Cells of one plane after the other.
Split dice_split(const Planes& p) { return {{{.items = p.cells, .rounds = p.images * p.channels}}}; }

// A row-major tensor is one channel of one image.
blocked::Sweep dropout_sweep(const View& x) {
  if (is_blocked(x.desc)) return sweep_of(x.desc);
  return {.channels = 1, .cells = elements(dims_of(x.desc)), .lanes = 1};
}

}  // namespace

void emit_op(const Dropout& op, const Instruction& instruction, Assembler& assembler) {
  const ValueId x_id = instruction.inputs[0];
  const View x = assembler.is_in_blocks(x_id) ? assembler.in_blocks(x_id) : assembler.in_plain(x_id);
  const View y = assembler.define_over(instruction.outputs[0], x);
  const View mask = assembler.define_bytes(instruction.outputs[1],
                                           content_bytes(x.desc) / static_cast<int64_t>(sizeof(float)));
  assembler.forward_layouts.emplace(instruction.outputs[1], x.desc);
  const blocked::Sweep sweep = dropout_sweep(x);
  assembler.add_kernel(
      "dropout", blocked::sweep_split(sweep), {x, y, mask},
      [sweep, probability = op.probability, layer = instruction.name, state = assembler.state(),
       from = batch_stride(x.desc), to = batch_stride(y.desc)](At at) {
        const Random stream = dropout_stream(state->seed, layer, state->pass);
        dropout(sweep, stream, probability, {as<const float>(at[0]), from}, {as<float>(at[1]), to},
                as<uint8_t>(at[2]));
      });
}

void emit_op(const DropoutBackward& op, const Instruction& instruction, Assembler& assembler) {
  const ValueId mask_id = instruction.inputs[0], dy_id = instruction.inputs[1];
  const bool in_blocks = is_blocked(assembler.forward_layouts.at(mask_id));
  const View dy = in_blocks ? assembler.in_blocks(dy_id) : assembler.in_plain(dy_id);
  const View dx = assembler.define_over(instruction.outputs[0], dy);
  const blocked::Sweep sweep = dropout_sweep(dy);
  assembler.add_kernel(
      "dropout_backward", blocked::sweep_split(sweep), {assembler.view(mask_id), dy, dx},
      [sweep, probability = op.probability, from = batch_stride(dy.desc), to = batch_stride(dx.desc)](At at) {
        dropout_backward(sweep, probability, as<const uint8_t>(at[0]), {as<const float>(at[1]), from},
                         {as<float>(at[2]), to});
      });
}

void emit_op(const SoftmaxCrossEntropy& op, const Instruction& instruction, Assembler& assembler) {
  const View logits = assembler.in_plain(instruction.inputs[0]);
  const Shape& shape = assembler.shape(instruction.inputs[0]);
  const View loss = assembler.define(instruction.outputs[0], plain_desc({}));
  const View probabilities = assembler.define(instruction.outputs[1], plain_desc(shape));
  assembler.add_kernel("softmax_cross_entropy", by_one_thread(),
                       {logits, assembler.view(instruction.inputs[1]), loss, probabilities},
                       [smoothing = op.smoothing, images = shape[0], classes = shape[1]](At at) {
                         softmax_cross_entropy(smoothing, images, classes, as<const float>(at[0]),
                                               as<const int64_t>(at[1]), as<float>(at[2]), as<float>(at[3]));
                       });
}

void emit_op(const SoftmaxCrossEntropyBackward& op, const Instruction& instruction, Assembler& assembler) {
  const View probabilities = assembler.view(instruction.inputs[0]);
  const Shape& shape = assembler.shape(instruction.inputs[0]);
  const View dlogits = assembler.define(instruction.outputs[0], plain_desc(shape));
  assembler.add_kernel("softmax_cross_entropy_backward", by_one_thread(),
                       {probabilities, assembler.view(instruction.inputs[1]), dlogits},
                       [smoothing = op.smoothing, images = shape[0], classes = shape[1]](At at) {
                         softmax_cross_entropy_backward(smoothing, images, classes, as<const float>(at[0]),
                                                        as<const int64_t>(at[1]), as<float>(at[2]));
                       });
}

void emit_op(const DiceLoss&, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  const View target = assembler.in_plain(instruction.inputs[1]);
  const View loss = assembler.define(instruction.outputs[0], plain_desc({}));
  const View sums =
      assembler.define(instruction.outputs[1], plain_desc(assembler.shape(instruction.outputs[1])));
  assembler.add_kernel("dice_loss", dice_split(Planes(assembler.shape(instruction.inputs[0]))),
                       {x, target, loss, sums}, [p = Planes(assembler.shape(instruction.inputs[0]))](At at) {
                         dice_loss(p.images, p.channels, p.cells, as<const float>(at[0]),
                                   as<const float>(at[1]), as<float>(at[2]), as<float>(at[3]));
                       });
}

void emit_op(const DiceLossBackward&, const Instruction& instruction, Assembler& assembler) {
  const View x = assembler.in_plain(instruction.inputs[0]);
  const View target = assembler.in_plain(instruction.inputs[1]);
  const View dx =
      assembler.define(instruction.outputs[0], plain_desc(assembler.shape(instruction.outputs[0])));
  assembler.add_kernel("dice_loss_backward", dice_split(Planes(assembler.shape(instruction.inputs[0]))),
                       {x, target, assembler.view(instruction.inputs[2]), dx},
                       [p = Planes(assembler.shape(instruction.inputs[0]))](At at) {
                         dice_loss_backward(p.images, p.channels, p.cells, as<const float>(at[0]),
                                            as<const float>(at[1]), as<const float>(at[2]), as<float>(at[3]));
                       });
}

}  // namespace tacho::native
