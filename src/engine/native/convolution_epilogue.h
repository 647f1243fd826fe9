#pragma once

#include "engine/native/assembler.h"

// What our own convolution kernels share beyond their weights: what they do with their sums and where those
// go.
namespace tacho::native {

// A residual operand, then ReLU, as the kernel stores its sums; another activation comes after it.
struct Epilogue {
  std::optional<ValueId> residual = {};
  bool relu = false;
  const PostOp* separate = nullptr;
};

// Nothing where the post-ops are more than that.
std::optional<Epilogue> epilogue_of(const std::vector<PostOp>& post_ops);

struct ResultView {
  View view;
  std::optional<View> residual;  // laid out as the result, perhaps the same memory
};

// `x` is what the convolution reads.
ResultView define_result(const Instruction& instruction, const Epilogue& epilogue, const View& x,
                         Assembler& assembler);

// An activation on its own, in place.
void add_activation(const PostOp& post, const View& y, Assembler& assembler);

// A plain piece of memory; never empty.
dnnl::memory::desc floats_desc(int64_t count);

}  // namespace tacho::native
