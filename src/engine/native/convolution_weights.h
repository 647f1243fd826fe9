#pragma once

#include "engine/native/assembler.h"

namespace tacho::native {

// Weight and bias of a convolution as its kernel uses them, with a batch norm folded in where there is one.
struct ConvolutionWeights {
  View weight;
  std::optional<View> bias;
};

// In a layout of oneDNN's, or row-major.
ConvolutionWeights weights_in_layout(const Instruction& instruction, const dnnl::memory::desc& weight_desc,
                                     Assembler& assembler);

// How a kernel of ours packs row-major weights.
struct Packing {
  int64_t floats;
  std::function<void(const float* plain, float* packed)> pack;
  Split split;  // of pack()
};

// Packed once in inference, in each pass in training: there they change with each update.
ConvolutionWeights packed_weights(const Instruction& instruction, const Packing& packing,
                                  Assembler& assembler);

}  // namespace tacho::native
