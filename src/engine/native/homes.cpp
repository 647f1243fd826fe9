#include "engine/native/homes.h"

#include <algorithm>

#include "engine/native/layout.h"

namespace tacho::native {
namespace {

bool holds_whole_blocks(const Program& program, ValueId id, int64_t channel_block) {
  const Shape& shape = program.shape(id);
  return shape.size() > 3 && shape[1] % channel_block == 0;
}

// Where it is not, a part that is would keep all of it alive.
bool is_read_backward(const Program& program, const Uses& uses, ValueId id) {
  const int last = uses.last(id);
  const auto count = static_cast<int>(program.instructions.size());
  return last >= 0 && (last == count || program.instructions[static_cast<size_t>(last)].backward);
}

}  // namespace

Home Homes::home_of(ValueId id) const {
  const auto found = of.find(id);
  return found == of.end() ? Home{id, 0} : found->second;
}

Homes find_homes(const Program& program, int64_t channel_block) {
  const Uses uses(program);
  const auto count = static_cast<int>(program.instructions.size());
  Homes homes;
  // Backwards, so that a concatenation's own home is known before its parts ask for theirs.
  for (size_t i = program.instructions.size(); i-- > 0;) {
    const Instruction& concat = program.instructions[i];
    if (!std::holds_alternative<Concat>(concat.op) || concat.backward) continue;
    if (program.training && !is_read_backward(program, uses, concat.outputs[0])) continue;
    const auto whole = [&](ValueId part) { return holds_whole_blocks(program, part, channel_block); };
    if (!std::ranges::all_of(concat.inputs, whole)) continue;
    homes.joined.insert(concat.outputs[0]);
    Home next = homes.home_of(concat.outputs[0]);
    for (const ValueId part : concat.inputs) {
      // What the caller reads after a forward pass alone is not to be found behind a backward pass.
      const bool is_output = program.training && uses.last(part) == count;
      if (uses.producer(part) >= 0 && !is_output) homes.of.try_emplace(part, next);
      next.channel += program.shape(part)[1];
    }
  }
  return homes;
}

Homes homes_of(const Program& program) {
  if (!blocked::supported()) return {};
  return find_homes(program, own_block());
}

}  // namespace tacho::native
