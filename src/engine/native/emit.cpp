#include "engine/native/emit.h"

namespace tacho::native {

void emit(const Instruction& instruction, Assembler& assembler) {
  std::visit([&](const auto& op) { emit_op(op, instruction, assembler); }, instruction.op);
}

}  // namespace tacho::native
