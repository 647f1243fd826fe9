#include <algorithm>

#include "engine/native/passes.h"
#include "engine/native/rewrite.h"

namespace tacho::native {
namespace {

bool halves_the_plane(const MaxPool& op) {
  const auto all_are = [](const Extents& extents, int64_t wanted) {
    return std::ranges::all_of(extents, [&](int64_t extent) { return extent == wanted; });
  };
  return !op.training && !op.ceil_mode && op.kernel.size() == 2 && all_are(op.kernel, 2) &&
         all_are(op.stride, 2) && all_are(op.padding, 0);
}

bool takes_max_pool(const Instruction& producer) {
  const auto adds = [](const PostOp& post) { return std::holds_alternative<Add>(post.op); };
  return std::holds_alternative<Convolution>(producer.op) && std::ranges::none_of(producer.post_ops, adds);
}

// dx = relu'(y) * unpool(dp) becomes dx = unpool(relu'(p) * dp): where the maximum p of a window is taken
// from, y equals p.
void mask_pooled(Program& program, int relu_backward, int pool_backward, ValueId pooled) {
  Instruction& relu = program.instructions[static_cast<size_t>(relu_backward)];
  Instruction& pool = program.instructions[static_cast<size_t>(pool_backward)];
  const auto masked = static_cast<ValueId>(program.values.size());
  Value value = program.value(pool.inputs[1]);
  value.name += ".masked";
  program.values.push_back(std::move(value));
  pool.outputs = relu.outputs;
  relu.inputs = {pooled, pool.inputs[1]};
  relu.outputs = {masked};
  pool.inputs[1] = masked;
  std::swap(relu, pool);
}

}  // namespace

void fuse_max_pool(Program& program) {
  if (program.training) return;
  const Uses uses(program);
  Removal removal(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& pool = program.instructions[i];
    const auto* op = std::get_if<MaxPool>(&pool.op);
    if (op == nullptr || !halves_the_plane(*op)) continue;
    const ValueId x = pool.inputs[0];
    if (uses.producer(x) < 0 || uses.count(x) != 1) continue;
    Instruction& producer = program.instructions[static_cast<size_t>(uses.producer(x))];
    if (!takes_max_pool(producer)) continue;
    producer.post_ops.push_back({*op, x});
    producer.outputs[0] = pool.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

void mask_pooled_gradients(Program& program) {
  const Uses uses(program);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& relu = program.instructions[i];
    if (!std::holds_alternative<ReluBackward>(relu.op)) continue;
    const int unpool = uses.producer(relu.inputs[1]);
    if (unpool < 0 || uses.count(relu.inputs[1]) != 1) continue;
    const Instruction& pool_backward = program.instructions[static_cast<size_t>(unpool)];
    if (!std::holds_alternative<MaxPoolBackward>(pool_backward.op)) continue;
    const Instruction& pool =
        program.instructions[static_cast<size_t>(uses.producer(pool_backward.inputs[0]))];
    if (pool.inputs[0] == relu.inputs[0]) mask_pooled(program, static_cast<int>(i), unpool, pool.outputs[0]);
  }
}

}  // namespace tacho::native
