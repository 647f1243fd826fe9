#include "engine/native/emit.h"

namespace tacho::native {

void emit(const Instruction& instruction, Assembler& assembler) {
  std::visit([&](const auto& op) { emit_op(op, instruction, assembler); }, instruction.op);
}

void emit_op(const Convolution&, const Instruction& instruction, Assembler& assembler) {
  row_of(assembler.kernel()).emit(instruction, assembler);
}
void emit_op(const ConvolutionBackwardData&, const Instruction& instruction, Assembler& assembler) {
  row_of(assembler.kernel()).emit(instruction, assembler);
}
void emit_op(const ConvolutionBackwardWeights&, const Instruction& instruction, Assembler& assembler) {
  row_of(assembler.kernel()).emit(instruction, assembler);
}

}  // namespace tacho::native
