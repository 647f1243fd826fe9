#include "engine/native/rewrite.h"

#include <algorithm>

#include "kernels/blocked/blocked.h"

namespace tacho::native {

Removal::~Removal() {
  std::vector<Instruction> kept;
  for (size_t i = 0; i < removed_.size(); ++i) {
    if (!removed_[i]) kept.push_back(std::move(program_.instructions[i]));
  }
  program_.instructions = std::move(kept);
}

void replace_value(std::span<Instruction> instructions, ValueId from, ValueId to) {
  for (Instruction& instruction : instructions) {
    std::ranges::replace(instruction.inputs, from, to);
    for (PostOp& post : instruction.post_ops) {
      if (post.operand == from) post.operand = to;
    }
  }
}

void replace_value(Program& program, ValueId from, ValueId to) {
  replace_value(program.instructions, from, to);
  std::ranges::replace(program.outputs, from, to);
}

bool can_normalize_again(const Program& program, const Instruction& instruction) {
  const auto* op = std::get_if<BatchNorm>(&instruction.op);
  return op != nullptr && op->training && program.shape(instruction.inputs[0]).size() > 3;
}

bool normalizes_in_blocks(const Program& program, ValueId x) {
  return program.shape(x).size() > 3 && blocked::supported();
}

Instruction normalized_again(const Instruction& norm) {
  const BatchNorm& op = std::get<BatchNorm>(norm.op);
  Instruction again = norm;
  again.op = BatchNorm{op.epsilon, op.momentum, false};
  again.inputs = {norm.inputs[0], norm.inputs[1], norm.inputs[2], norm.outputs[1], norm.outputs[2]};
  again.outputs = {norm.outputs[0]};
  again.backward = true;
  return again;
}

}  // namespace tacho::native
