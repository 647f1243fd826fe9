#include <algorithm>

#include "engine/native/passes.h"
#include "engine/native/rewrite.h"
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
    Instruction again = normalized_again(norm);
    again.outputs[0] = result;
    const auto inserted = program.instructions.insert(reader, std::move(again));
    for (auto later = inserted + 1; later != program.instructions.end(); ++later)
      std::ranges::replace(later->inputs, kept, result);
  }
}

}  // namespace tacho::native
