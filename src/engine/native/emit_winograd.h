#pragma once

#include "engine/native/assembler.h"

// Convolutions by Winograd's algorithm, for the instructions of emit_convolution.cpp that chose it.
namespace tacho::native {

// What plans of this graph hold beyond weights and activations because of it: what packed weights that are
// kept take more than plain ones; in training a part at a time of those that each pass packs again.
int64_t winograd_memory_bytes(const Graph& graph, bool low_memory);
// What a node of inference takes while it runs: transformed inputs, and weights that it packs itself.
int64_t winograd_scratch_bytes(const Graph& graph, const Node& node, const CompileOptions& options);

bool winograd_can(const Program& program, const Instruction& instruction);
// Whether it can store the maxima of such a convolution's outputs.
bool winograd_max_pools(const Convolution& op, const Shape& input, const Shape& weight);

void emit_winograd(const Convolution& op, const Instruction& instruction, Assembler& assembler);
void emit_winograd(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler);
void emit_winograd(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                   Assembler& assembler);

}  // namespace tacho::native
