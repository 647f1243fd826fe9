#pragma once

#include "engine/native/assembler.h"

// Convolutions and their gradients by oneDNN.
namespace tacho::native {

bool onednn_can(const Program& program, const Instruction& instruction);
void emit_onednn(const Instruction& instruction, Assembler& assembler);

}  // namespace tacho::native
