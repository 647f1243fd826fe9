#pragma once

#include "engine/native/assembler.h"

// Convolutions and their gradients by their definition, in our own kernels.
namespace tacho::native {

bool direct_can(const Program& program, const Instruction& instruction);
void emit_direct(const Instruction& instruction, Assembler& assembler);

}  // namespace tacho::native
