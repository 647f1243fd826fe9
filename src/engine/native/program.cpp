#include "engine/native/program.h"

#include <algorithm>

#include "graph/cost.h"

namespace tacho::native {

Program lower(const Graph& graph) {
  Program program{graph.values,  {}, graph.inputs, graph.outputs, graph.outputs, graph.gradients,
                  graph.training};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    program.instructions.push_back({node.op, node.name, node.inputs, node.outputs, i >= graph.backward_begin,
                                    cost_of(graph, node).flop});
  }
  return program;
}

Graph raise(const Program& program) {
  Graph graph;
  graph.values = program.values;
  if (program.training) {
    for (const auto& [id, part] : program.kernel_parts)
      graph.values[static_cast<size_t>(id)].shape = part.whole;
  }
  graph.inputs = program.inputs;
  graph.outputs = program.outputs;
  graph.training = program.training;
  graph.gradients = program.gradients;
  for (const Instruction& instruction : program.instructions) {
    graph.nodes.push_back({instruction.op, instruction.name, instruction.inputs, instruction.outputs});
    for (const PostOp& post : instruction.post_ops) {
      if (post.operand >= 0) graph.nodes.back().inputs.push_back(post.operand);
    }
  }
  return graph;
}

Uses::Uses(const Program& program)
    : producers(program.values.size(), -1), counts(program.values.size()), lasts(program.values.size(), -1) {
  const auto read = [&](ValueId id, size_t reader) {
    ++counts[static_cast<size_t>(id)];
    lasts[static_cast<size_t>(id)] = static_cast<int>(reader);
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    for (ValueId id : instruction.inputs) read(id, i);
    for (const PostOp& post : instruction.post_ops) {
      if (post.operand >= 0) read(post.operand, i);
    }
    for (ValueId id : instruction.outputs) producers[static_cast<size_t>(id)] = static_cast<int>(i);
  }
  for (ValueId id : program.outputs) read(id, program.instructions.size());
  for (const ParameterGradient& pair : program.gradients) read(pair.gradient, program.instructions.size());
}

}  // namespace tacho::native
