#pragma once

#include "engine/native/assembler.h"

// What our own convolution kernels share beyond their weights: what they do with their sums and where those
// go.
namespace tacho::native {

// A residual operand, then ReLU or ELU, then 2x2 max pooling, or the gradient of a ReLU. A sigmoid comes
// after it all: it keeps maxima the maxima.
struct Epilogue {
  std::optional<ValueId> residual = {};
  std::optional<ValueId> mask = {};  // the ReLU's result
  bool relu = false;
  std::optional<float> elu = {};  // its alpha
  bool max_pool = false;
  bool sigmoid = false;
};

// Nothing where the post-ops are more than that.
std::optional<Epilogue> epilogue_of(const std::vector<PostOp>& post_ops);

struct ResultView {
  View view;
  std::optional<View> residual = {}, mask = {};  // laid out as the result, perhaps the same memory
};

// `x` is what the convolution reads. The result may take the mask's place where `over_mask` allows it.
ResultView define_result(const Instruction& instruction, const Epilogue& epilogue, const View& x,
                         bool over_mask, Assembler& assembler);

// In place. Not oneDNN's, which has none of its own making for slices of wider tensors.
void add_elu(float alpha, const View& y, Assembler& assembler);
// Of `y`, which holds the value: a sigmoid's result is what a loss and the caller read, so it is stored as
// they want it, row-major and without the channels that fill up a block.
void add_sigmoid(ValueId id, const View& y, Assembler& assembler);

}  // namespace tacho::native
