#pragma once

#include "engine/native/assembler.h"

// Convolutions and their gradients by Winograd's algorithm.
namespace tacho::native {

// What plans of this graph hold beyond weights and activations because of it: what packed weights that are
// kept take more than plain ones; in training a part at a time of those that each pass packs again.
int64_t winograd_memory_bytes(const Graph& graph, bool low_memory);
// What a node of inference takes while it runs: transformed inputs, and weights that it packs itself.
int64_t winograd_scratch_bytes(const Graph& graph, const Node& node, const CompileOptions& options);

bool winograd_can(const Program& program, const Instruction& instruction);
void emit_winograd(const Instruction& instruction, Assembler& assembler);

}  // namespace tacho::native
