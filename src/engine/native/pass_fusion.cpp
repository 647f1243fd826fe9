#include "engine/native/passes.h"
#include "engine/native/rewrite.h"

namespace tacho::native {
namespace {

bool takes_activation(const Instruction& producer, const Op& activation) {
  if (!producer.post_ops.empty() && is_activation(producer.post_ops.back().op)) return false;
  if (std::holds_alternative<Add>(producer.op)) return std::holds_alternative<Relu>(activation);
  return std::holds_alternative<Convolution>(producer.op) || std::holds_alternative<Linear>(producer.op);
}

// ReluBackward whose result only the batch norm's gradient reads, for the ReLU with result `y`.
struct BackwardPair {
  int relu = -1, norm = -1;
};
BackwardPair find_backward(const Program& program, const Uses& uses, ValueId y, ValueId mean) {
  BackwardPair pair;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (std::holds_alternative<ReluBackward>(instruction.op) && instruction.inputs[0] == y) {
      pair.relu = static_cast<int>(i);
    }
    if (std::holds_alternative<BatchNormBackward>(instruction.op) && instruction.inputs[2] == mean) {
      pair.norm = static_cast<int>(i);
    }
  }
  if (pair.relu < 0 || pair.norm < 0) return {};
  const ValueId dx = program.instructions[static_cast<size_t>(pair.relu)].outputs[0];
  const bool chained =
      program.instructions[static_cast<size_t>(pair.norm)].inputs[4] == dx && uses.count(dx) == 1;
  return chained ? pair : BackwardPair{};
}

void fuse_backward(Program& program, Instruction& norm, BackwardPair pair, Removal& removal) {
  const auto mask = static_cast<ValueId>(program.values.size());
  const Value& y = program.value(norm.outputs[0]);
  program.values.push_back({y.name + ".relu_mask", y.shape, DType::u8, Role::activation, {}});
  norm.outputs.push_back(mask);
  Instruction& backward = program.instructions[static_cast<size_t>(pair.norm)];
  backward.inputs[4] = program.instructions[static_cast<size_t>(pair.relu)].inputs[1];
  backward.inputs.push_back(mask);
  backward.inputs.push_back(norm.inputs[2]);
  removal.remove(pair.relu);
}

// What makes a gradient that one instruction alone reads, where `operand` is known before that.
Instruction* maker_of(Program& program, const Uses& uses, ValueId gradient, ValueId operand) {
  if (uses.producer(gradient) < 0 || uses.count(gradient) != 1) return nullptr;
  if (uses.producer(operand) > uses.producer(gradient)) return nullptr;
  return &program.instructions[static_cast<size_t>(uses.producer(gradient))];
}

bool adds_gradients(const Program& program, const Instruction& maker) {
  if (!maker.post_ops.empty()) return false;
  if (std::holds_alternative<ConvolutionBackwardData>(maker.op)) return true;
  return std::holds_alternative<BatchNormBackward>(maker.op) &&
         normalizes_in_blocks(program, maker.inputs[0]);
}

}  // namespace

void fuse_activations(Program& program) {
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& activation = program.instructions[i];
    if (!is_activation(activation.op)) continue;
    const ValueId x = activation.inputs[0];
    if (uses.producer(x) < 0 || uses.count(x) != 1) continue;
    Instruction& producer = program.instructions[static_cast<size_t>(uses.producer(x))];
    if (!takes_activation(producer, activation.op)) continue;
    producer.post_ops.push_back({activation.op, x});
    producer.outputs[0] = activation.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

void fuse_gradient_sums(Program& program) {
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& sum = program.instructions[i];
    if (!std::holds_alternative<Add>(sum.op) || !sum.backward || !sum.post_ops.empty()) continue;
    for (const auto& [gradient, other] :
         {std::pair{sum.inputs[0], sum.inputs[1]}, std::pair{sum.inputs[1], sum.inputs[0]}}) {
      Instruction* maker = maker_of(program, uses, gradient, other);
      if (maker == nullptr || !adds_gradients(program, *maker)) continue;
      maker->post_ops.push_back({sum.op, gradient, other});
      maker->outputs[0] = sum.outputs[0];
      removal.remove(static_cast<int>(i));
      break;
    }
  }
}

void fuse_relu_gradients(Program& program) {
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& relu = program.instructions[i];
    if (!std::holds_alternative<ReluBackward>(relu.op)) continue;
    const ValueId y = relu.inputs[0], dy = relu.inputs[1];
    Instruction* maker = maker_of(program, uses, dy, y);
    if (maker == nullptr || !std::holds_alternative<ConvolutionBackwardData>(maker->op)) continue;
    maker->post_ops.push_back({relu.op, dy, y});
    maker->outputs[0] = relu.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

void fuse_batch_norm_relu(Program& program) {
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& relu = program.instructions[i];
    if (!std::holds_alternative<Relu>(relu.op)) continue;
    const ValueId x = relu.inputs[0], y = relu.outputs[0];
    if (uses.producer(x) < 0 || uses.count(x) != 1) continue;
    Instruction& norm = program.instructions[static_cast<size_t>(uses.producer(x))];
    const auto* op = std::get_if<BatchNorm>(&norm.op);
    if (op == nullptr) continue;
    if (op->training) {
      const BackwardPair pair = find_backward(program, uses, y, norm.outputs[1]);
      if (pair.relu < 0) continue;
      fuse_backward(program, norm, pair, removal);
    }
    norm.outputs[0] = y;
    norm.post_ops.push_back({Relu{}, x});
    removal.remove(static_cast<int>(i));
  }
}

}  // namespace tacho::native
