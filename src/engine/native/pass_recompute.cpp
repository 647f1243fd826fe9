#include <algorithm>
#include <ranges>
#include <set>

#include "engine/native/passes.h"
#include "engine/native/rewrite.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

bool reads(const Instruction& instruction, ValueId id) {
  return std::ranges::find(instruction.inputs, id) != instruction.inputs.end();
}

// The first of the backward pass that reads the value; the end where none does.
auto first_backward_reader(Program& program, ValueId id) {
  return std::ranges::find_if(program.instructions, [&](const Instruction& instruction) {
    return instruction.backward && reads(instruction, id);
  });
}

// Computes the first output of `again` once more where the backward pass reads it for the first time, for all
// its readers there. False where it has none.
bool compute_for_backward(Program& program, Instruction again) {
  const ValueId kept = again.outputs[0];
  const auto reader = first_backward_reader(program, kept);
  if (reader == program.instructions.end()) return false;
  again.backward = true;
  again.flop = 0;  // the network's work is counted once
  again.outputs[0] = static_cast<ValueId>(program.values.size());
  program.values.push_back(program.value(kept));
  const ValueId result = again.outputs[0];
  const auto inserted = program.instructions.insert(reader, std::move(again));
  for (auto later = inserted + 1; later != program.instructions.end(); ++later)
    std::ranges::replace(later->inputs, kept, result);
  return true;
}

// Whether the backward pass has the value anyway, or can have it from a batch norm.
bool is_there_for_backward(Program& program, ValueId id) {
  const int producer = Uses(program).producer(id);
  if (producer >= 0 && can_normalize_again(program, program.instructions[static_cast<size_t>(producer)]))
    return true;
  return first_backward_reader(program, id) != program.instructions.end();
}

// Of the whole program's arithmetic: a layer of few channels is slower than its arithmetic says, and still
// costs about a hundredth of the time.
constexpr int64_t kCheapPart = 64;

// It reads the network's input, and its activation is fused: where a batch norm follows instead, that would
// have to be repeated as well.
bool is_cheap_convolution(const Program& program, const Instruction& instruction, int64_t flop) {
  return std::holds_alternative<Convolution>(instruction.op) && !instruction.post_ops.empty() &&
         program.value(instruction.inputs[0]).role == Role::input && instruction.flop < flop / kCheapPart;
}

// An upsampling, or a concatenation of one.
bool is_spread(const Program& program, const Uses& uses, const Instruction& instruction) {
  if (std::holds_alternative<Upsample>(instruction.op)) return true;
  return std::holds_alternative<Concat>(instruction.op) &&
         std::ranges::any_of(instruction.inputs, [&](ValueId id) {
           const int producer = uses.producer(id);
           return producer >= 0 &&
                  std::holds_alternative<Upsample>(program.instructions[static_cast<size_t>(producer)].op);
         });
}

}  // namespace

void recompute_cheap_activations(Program& program) {
  if (!program.training) return;
  const Uses uses(program);
  int64_t flop = 0;
  std::vector<Instruction> cheap;
  for (const Instruction& instruction : program.instructions) flop += instruction.flop;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.backward) break;
    if (is_cheap_convolution(program, instruction, flop) || is_spread(program, uses, instruction))
      cheap.push_back(instruction);
  }
  // The last first: what it is made of is then read by the backward pass, too.
  for (const Instruction& instruction : cheap | std::views::reverse)
    compute_for_backward(program, instruction);
}

void recompute_residual_sums(Program& program) {
  if (!program.training || program.low_memory || !blocked::supported()) return;
  std::set<ValueId> sums;  // those that are computed again
  for (size_t i = 0; i < program.instructions.size() && !program.instructions[i].backward; ++i) {
    const Instruction sum = program.instructions[i];
    if (!std::holds_alternative<Add>(sum.op)) continue;
    const auto is_there = [&](ValueId id) {
      return !sums.contains(id) && is_there_for_backward(program, id);
    };
    if (std::ranges::all_of(sum.inputs, is_there) && compute_for_backward(program, sum))
      sums.insert(sum.outputs[0]);
  }
}

void recompute_batch_norm(Program& program) {
  if (!program.training || !blocked::supported()) return;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& norm = program.instructions[i];
    if (can_normalize_again(program, norm)) compute_for_backward(program, normalized_again(norm));
  }
}

}  // namespace tacho::native
