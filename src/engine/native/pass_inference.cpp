#include "engine/native/passes.h"
#include "engine/native/rewrite.h"

namespace tacho::native {

void remove_identities(Program& program) {
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const auto* dropout = std::get_if<Dropout>(&instruction.op);
    if (dropout == nullptr || dropout->training) continue;
    const ValueId result = instruction.outputs[0];
    replace_value(program, result, instruction.inputs[0]);
    removal.remove(static_cast<int>(i));
  }
}

void fold_batch_norm(Program& program) {
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& norm = program.instructions[i];
    const auto* op = std::get_if<BatchNorm>(&norm.op);
    if (op == nullptr || op->training) continue;
    const int producer = uses.producer(norm.inputs[0]);
    if (producer < 0 || uses.count(norm.inputs[0]) != 1) continue;
    Instruction& convolution = program.instructions[static_cast<size_t>(producer)];
    if (!std::holds_alternative<Convolution>(convolution.op) || convolution.folded) continue;
    convolution.folded = {norm.inputs[1], norm.inputs[2], norm.inputs[3], norm.inputs[4], op->epsilon};
    convolution.outputs[0] = norm.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

void fuse_residual_add(Program& program) {
  if (program.training) return;
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& add = program.instructions[i];
    if (!std::holds_alternative<Add>(add.op) || add.inputs[0] == add.inputs[1]) continue;
    // The operand made last takes the sum in, so that the other one exists by then.
    ValueId last = add.inputs[0], other = add.inputs[1];
    if (uses.producer(last) < uses.producer(other)) std::swap(last, other);
    if (uses.producer(last) < 0 || uses.count(last) != 1 || uses.last(other) != static_cast<int>(i)) continue;
    Instruction& convolution = program.instructions[static_cast<size_t>(uses.producer(last))];
    if (!std::holds_alternative<Convolution>(convolution.op) || !convolution.post_ops.empty()) continue;
    convolution.post_ops.push_back({Add{}, last, other});
    convolution.outputs[0] = add.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

}  // namespace tacho::native
