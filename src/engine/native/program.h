#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tacho::native {

// An op applied to the first output of an instruction before it is stored.
struct PostOp {
  Op op;
  // What it reads: the result so far, which exists only where the op is split off again. Copies of an
  // instruction share it: only post-ops that every kernel takes may be copied.
  ValueId before;
  ValueId operand = -1;  // of Add; of ReluBackward, the ReLU's result
};

// The batch norm that was folded into an instruction's weights and bias.
struct FoldedBatchNorm {
  ValueId weight, bias, mean, variance;
  double epsilon;
};

// A node of the graph, perhaps with its neighbours fused in. Two values go beyond the graph's: a training
// BatchNorm with a fused ReLU yields the ReLU's mask as fourth output, and its BatchNormBackward takes it as
// sixth input and the norm's bias as seventh: kernels need the one or the other. A BatchNorm that is not
// `training` within a training program normalizes once more, with the statistics of the batch as inputs.
struct Instruction {
  Op op;
  std::string name;
  std::vector<ValueId> inputs, outputs;
  bool backward = false;
  int64_t flop = 0;
  std::vector<PostOp> post_ops = {};
  std::optional<FoldedBatchNorm> folded = {};
  int stretch = -1;  // which of Program::stretches it belongs to, or none
};

// Instructions that follow each other and run on one chunk of the batch after the other, so that what one of
// them wrote is still in a cache for the next. They read `input`, a chunk of `whole_input`, and make
// `result`, a chunk of `whole_result`.
struct Stretch {
  int64_t chunks;
  ValueId whole_input, input, result, whole_result;
};

// A weight that is, in the program, only a part of its kernel: the taps from `first` on.
struct KernelPart {
  Shape whole;  // of the parameter, as the graph knows it
  Extents first;
};

// What the passes rewrite: the graph's nodes as instructions. Value ids are the graph's; passes may append
// values.
struct Program {
  std::vector<Value> values;
  std::vector<Instruction> instructions;
  std::vector<ValueId> inputs;
  std::vector<ValueId> graph_outputs;  // as the caller knows them
  std::vector<ValueId> outputs;        // the values that hold them now
  std::vector<ParameterGradient> gradients;
  bool training = false;
  bool low_memory = false, keep_gradients = true;  // see CompileOptions
  // By parameter. In inference its tensor is cut; in training it and its gradient are kept whole, and the
  // gradient is zero elsewhere.
  std::map<ValueId, KernelPart> kernel_parts = {};
  std::vector<Stretch> stretches = {};  // in the order of their instructions

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  const Shape& shape(ValueId id) const { return value(id).shape; }
};

Program lower(const Graph& graph);
// The instructions as nodes of a graph, for what only asks who makes and who reads a value and how much
// memory it takes.
Graph raise(const Program& program);

// Who makes and who reads each value, as indices of instructions. Operands of post-ops count as reads; a
// value that the caller may read after a pass counts one reader more.
struct Uses {
  explicit Uses(const Program& program);

  int producer(ValueId id) const { return producers[static_cast<size_t>(id)]; }
  int count(ValueId id) const { return counts[static_cast<size_t>(id)]; }
  // The last instruction that reads it; one past the end for what the caller reads, -1 for nobody.
  int last(ValueId id) const { return lasts[static_cast<size_t>(id)]; }

  std::vector<int> producers, counts, lasts;
};

}  // namespace tacho::native
