#include <utility>

#include "engine/native/passes.h"

namespace tacho::native {

void delay_linear_gradients(Program& program) {
  if (program.keep_gradients) return;
  std::vector<Instruction>& instructions = program.instructions;
  for (size_t i = 1; i < instructions.size(); ++i) {
    Instruction &first = instructions[i - 1], &second = instructions[i];
    if (std::holds_alternative<LinearBackwardWeights>(first.op) &&
        std::holds_alternative<LinearBackwardData>(second.op))
      std::swap(first, second);
  }
}

}  // namespace tacho::native
