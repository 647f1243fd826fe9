#pragma once

#include "engine/native/assembler.h"

// Batch norms by our own kernels on blocks of channels, for the instructions of emit_batch_norm.cpp that they
// can compute.
namespace tacho::native {

// In training without the update of the running statistics.
void emit_in_blocks(const BatchNorm& op, const Instruction& instruction, Assembler& assembler);
void emit_in_blocks(const BatchNormBackward& op, const Instruction& instruction, Assembler& assembler);

}  // namespace tacho::native
