#pragma once

#include "engine/native/assembler.h"

// Convolutions by our own direct kernel, for the instructions of emit_convolution.cpp that chose it.
namespace tacho::native {

bool direct_can(const Program& program, const Instruction& instruction);

void emit_direct(const Convolution& op, const Instruction& instruction, Assembler& assembler);

}  // namespace tacho::native
