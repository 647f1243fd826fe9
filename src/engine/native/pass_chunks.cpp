#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "engine/memory_estimate.h"
#include "engine/native/passes.h"
#include "engine/native/rewrite.h"

namespace tacho::native {
namespace {

// What it costs to start one more instruction, as the bytes that could have been moved meanwhile.
constexpr int64_t kStartBytes = 256 << 10;
// Packed for Winograd, weights of larger kernels are so many times as large.
constexpr int64_t kPackedTimes = 4;

bool is_batch_of(const Program& program, ValueId id) {
  const Role role = program.value(id).role;
  return role == Role::activation || role == Role::input;
}

// All that an instruction reads and writes.
std::vector<ValueId> values_of(const Instruction& instruction) {
  std::vector<ValueId> ids = instruction.inputs;
  ids.insert(ids.end(), instruction.outputs.begin(), instruction.outputs.end());
  for (const PostOp& post : instruction.post_ops) {
    if (post.operand >= 0) ids.push_back(post.operand);
  }
  return ids;
}

int64_t bytes_of(const Program& program, ValueId id) {
  return saturating_bytes(program.shape(id), program.value(id).dtype);
}

// Instructions [begin, end) on `count` chunks of the batch, one after the other.
struct Stretch {
  size_t begin, end;
  int64_t count;
};

// What it costs, in bytes that no cache holds, to run instructions on chunks of the batch.
class Costs {
 public:
  Costs(const Program& program, int64_t cached_bytes) : program_(program), cached_bytes_(cached_bytes) {
    for (const Instruction& instruction : program.instructions) {
      activations_.push_back(0);
      weights_.push_back(0);
      for (const ValueId id : values_of(instruction)) {
        if (is_batch_of(program, id)) {
          // A concatenation is made by those who make its parts.
          if (!std::holds_alternative<Concat>(instruction.op)) activations_.back() += bytes_of(program, id);
        } else {
          const Shape& shape = program.shape(id);
          const bool is_wide = shape.size() > 2 && elements(shape) > shape[0] * shape[1];
          weights_.back() += bytes_of(program, id) * (is_wide ? kPackedTimes : 1);
        }
      }
    }
  }

  int64_t of(const Stretch& stretch) const {
    int64_t bytes = 0;
    for (size_t i = stretch.begin; i < stretch.end; ++i) {
      if (activations_[i] / stretch.count > cached_bytes_) bytes += activations_[i];
      bytes += stretch.count * (weights_[i] + kStartBytes);
    }
    return bytes;
  }

 private:
  const Program& program_;
  int64_t cached_bytes_;
  std::vector<int64_t> activations_, weights_;  // by instruction
};

// Where one value alone leads from the instructions before to those behind: that value, by the number of
// instructions before.
std::map<size_t, ValueId> cuts_of(const Program& program) {
  const Uses uses(program);
  std::map<size_t, ValueId> cuts;
  std::set<ValueId> alive(program.inputs.begin(), program.inputs.end());
  for (size_t i = 0; i <= program.instructions.size(); ++i) {
    std::erase_if(alive, [&](ValueId id) { return uses.last(id) < static_cast<int>(i); });
    if (alive.size() == 1) cuts[i] = *alive.begin();
    if (i == program.instructions.size()) break;
    for (const ValueId id : program.instructions[i].outputs) alive.insert(id);
  }
  return cuts;
}

// The cheapest stretches that cover the program.
std::vector<Stretch> best_stretches(const Program& program, const std::map<size_t, ValueId>& cuts,
                                    int64_t batch, int64_t fewest_images, const Costs& costs) {
  struct Way {
    int64_t bytes = std::numeric_limits<int64_t>::max();
    Stretch last = {0, 0, 1};
  };
  std::map<size_t, Way> ways = {{0, {0, {0, 0, 1}}}};
  const size_t size = program.instructions.size();
  const auto ends = [&](size_t at) { return cuts.contains(at) || at == size; };
  for (size_t end = 1; end <= size; ++end) {
    if (!ends(end)) continue;
    Way best;
    for (const auto& [begin, way] : ways) {
      for (int64_t count = 1; count * fewest_images <= batch; ++count) {
        const bool can = count == 1 || (batch % count == 0 && cuts.contains(begin) && cuts.contains(end));
        if (!can) continue;
        const Stretch stretch = {begin, end, count};
        int64_t bytes = way.bytes + costs.of(stretch);
        if (count > 1) bytes += bytes_of(program, cuts.at(begin)) + bytes_of(program, cuts.at(end));
        if (bytes < best.bytes) best = {bytes, stretch};
      }
    }
    ways[end] = best;
  }
  std::vector<Stretch> stretches;
  for (size_t end = size; end > 0; end = stretches.back().begin) stretches.push_back(ways.at(end).last);
  std::ranges::reverse(stretches);
  return stretches;
}

ValueId add_value(Program& program, const Value& value) {
  program.values.push_back(value);
  return static_cast<ValueId>(program.values.size()) - 1;
}

void take_in_chunks(Program& program, const Stretch& stretch, ValueId whole_input, ValueId result) {
  std::set<ValueId> made;
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    Instruction& instruction = program.instructions[i];
    instruction.chunks = static_cast<int>(program.chunks.size());
    made.insert(instruction.outputs.begin(), instruction.outputs.end());
    for (const PostOp& post : instruction.post_ops) made.insert(post.before);
  }
  const ValueId input = add_value(program, program.value(whole_input));
  program.values.back().role = Role::activation;
  const ValueId whole_result = add_value(program, program.value(result));
  made.insert(input);
  for (const ValueId id : made) {
    Shape& shape = program.values[static_cast<size_t>(id)].shape;
    shape[0] /= stretch.count;
  }
  const auto replace = [&](size_t begin, size_t end, ValueId from, ValueId to) {
    for (size_t i = begin; i < end; ++i) {
      std::ranges::replace(program.instructions[i].inputs, from, to);
      for (PostOp& post : program.instructions[i].post_ops) {
        if (post.operand == from) post.operand = to;
      }
    }
  };
  replace(stretch.begin, stretch.end, whole_input, input);
  replace(stretch.end, program.instructions.size(), result, whole_result);
  std::ranges::replace(program.outputs, result, whole_result);
  program.chunks.push_back({stretch.count, whole_input, input, result, whole_result});
}

// Every activation has the batch as its first extent.
std::optional<int64_t> batch_of(const Program& program) {
  if (program.inputs.size() != 1 || program.shape(program.inputs[0]).empty()) return std::nullopt;
  const int64_t batch = program.shape(program.inputs[0])[0];
  for (const Instruction& instruction : program.instructions) {
    for (const ValueId id : instruction.outputs) {
      if (program.shape(id).empty() || program.shape(id)[0] != batch) return std::nullopt;
    }
  }
  return batch;
}

}  // namespace

void take_batch_in_chunks(Program& program, int64_t cached_bytes, int64_t fewest_images) {
  const std::optional<int64_t> batch = batch_of(program);
  if (program.training || !batch) return;
  std::map<size_t, ValueId> cuts = cuts_of(program);
  const Costs costs(program, cached_bytes);
  for (const Stretch& stretch : best_stretches(program, cuts, *batch, fewest_images, costs)) {
    if (stretch.count == 1) continue;
    take_in_chunks(program, stretch, cuts.at(stretch.begin), cuts.at(stretch.end));
    cuts.at(stretch.end) = program.chunks.back().whole_result;
  }
}

}  // namespace tacho::native
