#include <algorithm>

#include "engine/native/passes.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

bool reads(const Instruction& instruction, ValueId id) {
  return std::ranges::find(instruction.inputs, id) != instruction.inputs.end();
}

// The first of the backward pass that reads the value; the end where none does.
auto first_backward_reader(Program& program, ValueId id) {
  return std::ranges::find_if(program.instructions, [&](const Instruction& instruction) {
    return instruction.backward && reads(instruction, id);
  });
}

Instruction again(const Instruction& norm, ValueId result) {
  const BatchNorm& op = std::get<BatchNorm>(norm.op);
  Instruction instruction = norm;
  instruction.op = BatchNorm{op.epsilon, op.momentum, false};
  instruction.inputs = {norm.inputs[0], norm.inputs[1], norm.inputs[2], norm.outputs[1], norm.outputs[2]};
  instruction.outputs = {result};
  instruction.backward = true;
  return instruction;
}

}  // namespace

void recompute_batch_norm(Program& program) {
  if (!blocked::supported()) return;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction norm = program.instructions[i];
    const auto* op = std::get_if<BatchNorm>(&norm.op);
    if (op == nullptr || !op->training || program.shape(norm.inputs[0]).size() < 4) continue;
    const ValueId kept = norm.outputs[0];
    const auto reader = first_backward_reader(program, kept);
    if (reader == program.instructions.end()) continue;
    const auto result = static_cast<ValueId>(program.values.size());
    program.values.push_back(program.value(kept));
    const auto inserted = program.instructions.insert(reader, again(norm, result));
    for (auto later = inserted + 1; later != program.instructions.end(); ++later)
      std::ranges::replace(later->inputs, kept, result);
  }
}

}  // namespace tacho::native
