#include <algorithm>

#include "engine/native/emit_winograd.h"
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

bool takes_max_pool(const Program& program, const Instruction& producer) {
  const auto* op = std::get_if<Convolution>(&producer.op);
  const auto adds = [](const PostOp& post) { return std::holds_alternative<Add>(post.op); };
  return op != nullptr && std::ranges::none_of(producer.post_ops, adds) &&
         winograd_computes(*op, program.shape(producer.inputs[0]), program.shape(producer.inputs[1]));
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
    if (!takes_max_pool(program, producer)) continue;
    producer.post_ops.push_back({*op});
    producer.before_pool = x;
    producer.outputs[0] = pool.outputs[0];
    removal.remove(static_cast<int>(i));
  }
}

}  // namespace tacho::native
