#pragma once

#include "engine/native/assembler.h"

// Convolutions by Winograd's algorithm, for the instructions of emit_convolution.cpp. Each function returns
// false, with nothing emitted, where that cannot compute the instruction or the direct kernel is the better
// choice.
namespace tacho::native {

// What plans of this graph hold beyond weights and activations because of it: in inference the packed weights
// of all convolutions, in training those of one at a time.
int64_t winograd_memory_bytes(const Graph& graph);

// Whether emit_winograd() will compute it, but for its post-ops.
bool winograd_computes(const Convolution& op, const Shape& input, const Shape& weight);

bool emit_winograd(const Convolution& op, const Instruction& instruction, Assembler& assembler);
bool emit_winograd(const ConvolutionBackwardData& op, const Instruction& instruction, Assembler& assembler);
bool emit_winograd(const ConvolutionBackwardWeights& op, const Instruction& instruction,
                   Assembler& assembler);

}  // namespace tacho::native
