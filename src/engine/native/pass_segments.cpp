#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "engine/memory_estimate.h"
#include "engine/native/passes.h"
#include "engine/native/rewrite.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

// Instructions [begin, end) of the forward pass. One value leads from each segment to the next.
struct Segment {
  size_t begin, end;
};

// What the forward pass leaves for the backward pass, instruction by instruction.
class ForwardPass {
 public:
  explicit ForwardPass(const Program& program) : program_(program) {
    while (size_ < program.instructions.size() && !program.instructions[size_].backward) ++size_;
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      for (const ValueId id : program.instructions[i].inputs) {
        if (i < size_) {
          last_forward_[id] = i;
        } else {
          backward_.insert(id);
        }
      }
    }
  }

  size_t size() const { return size_; }
  bool is_read_backward(ValueId id) const { return backward_.contains(id); }
  bool is_read_behind(ValueId id, size_t end) const {
    const auto last = last_forward_.find(id);
    return last != last_forward_.end() && last->second >= end;
  }

  int64_t kept_bytes(size_t begin, size_t end) const {
    int64_t bytes = 0;
    for (size_t i = begin; i < end; ++i) {
      for (const ValueId id : program_.instructions[i].outputs) {
        if (is_read_backward(id)) bytes += bytes_of(id);
      }
    }
    return bytes;
  }

  // The bytes of the one value that is needed on both sides of a cut before `end`; nothing where there are
  // several.
  std::optional<int64_t> crossing_bytes(size_t end) const {
    std::optional<int64_t> bytes;
    for (size_t i = 0; i < end; ++i) {
      for (const ValueId id : program_.instructions[i].outputs) {
        if (!is_read_behind(id, end)) continue;
        if (bytes) return std::nullopt;
        bytes = bytes_of(id);
      }
    }
    return bytes;
  }

 private:
  int64_t bytes_of(ValueId id) const {
    return saturating_bytes(program_.shape(id), program_.value(id).dtype);
  }

  const Program& program_;
  size_t size_ = 0;
  std::map<ValueId, size_t> last_forward_;  // the last reader
  std::set<ValueId> backward_;              // what the backward pass reads
};

struct Cut {
  size_t before;
  int64_t crossing_bytes;
};

std::vector<Cut> possible_cuts(const ForwardPass& forward) {
  std::vector<Cut> cuts;
  for (size_t end = 1; end < forward.size(); ++end) {
    if (const auto bytes = forward.crossing_bytes(end)) cuts.push_back({end, *bytes});
  }
  return cuts;
}

// Segments that leave at least `wanted_bytes` each, and what the whole then holds: what crosses the cuts, and
// one segment at a time.
struct Partition {
  std::vector<Segment> segments;
  int64_t bytes = 0;
};
Partition partition(const ForwardPass& forward, const std::vector<Cut>& cuts, int64_t wanted_bytes) {
  Partition result;
  int64_t largest = 0;
  size_t begin = 0;
  const auto close = [&](size_t end) {
    result.segments.push_back({begin, end});
    largest = std::max(largest, forward.kept_bytes(begin, end));
    begin = end;
  };
  for (const Cut& cut : cuts) {
    if (forward.kept_bytes(begin, cut.before) < wanted_bytes) continue;
    close(cut.before);
    result.bytes += cut.crossing_bytes;
  }
  close(forward.size());
  result.bytes += largest;
  return result;
}

Partition best_partition(const ForwardPass& forward) {
  constexpr int kMostSegments = 32;
  const std::vector<Cut> cuts = possible_cuts(forward);
  const int64_t all = forward.kept_bytes(0, forward.size());
  Partition best = partition(forward, {}, all);
  for (int segments = 2; segments <= kMostSegments; ++segments) {
    Partition other = partition(forward, cuts, all / segments);
    if (other.bytes < best.bytes) best = std::move(other);
  }
  return best;
}

// Instructions of a segment once more, on values of their own.
class Repetition {
 public:
  Repetition(Program& program, const ForwardPass& forward, Segment segment) : program_(program) {
    std::set<ValueId> wanted;
    for (size_t i = segment.begin; i < segment.end; ++i) {
      for (const ValueId id : program.instructions[i].outputs) {
        if (is_repeated(program.instructions[i], id) && forward.is_read_backward(id) &&
            !forward.is_read_behind(id, segment.end)) {
          wanted.insert(id);
        }
      }
    }
    first_wanted_ = wanted;
    std::vector<size_t> chosen;
    for (size_t i = segment.end; i-- > segment.begin;) {
      const Instruction& instruction = program.instructions[i];
      const auto is_wanted = [&](ValueId id) { return wanted.contains(id); };
      if (std::ranges::none_of(instruction.outputs, is_wanted)) continue;
      chosen.push_back(i);
      for (const ValueId id : instruction.inputs) {
        if (is_made_within(segment, id) && !forward.is_read_behind(id, segment.end)) wanted.insert(id);
      }
    }
    for (const size_t i : chosen | std::views::reverse)
      instructions_.push_back(again(program.instructions[i]));
  }

  const std::vector<Instruction>& instructions() const { return instructions_; }
  // What the backward pass reads, and what it shall read instead.
  std::map<ValueId, ValueId> replacements() const {
    std::map<ValueId, ValueId> result;
    for (const ValueId id : first_wanted_) result[id] = copies_.at(id);
    return result;
  }

 private:
  // Statistics of a batch and masks of dropout are small, and making them again would count twice.
  bool is_repeated(const Instruction& instruction, ValueId output) const {
    if (std::holds_alternative<BatchNorm>(instruction.op))
      return can_normalize_again(program_, instruction) && output == instruction.outputs[0];
    return !std::holds_alternative<Dropout>(instruction.op) || output == instruction.outputs[0];
  }

  bool is_made_within(Segment segment, ValueId id) const {
    for (size_t i = segment.begin; i < segment.end; ++i) {
      const Instruction& instruction = program_.instructions[i];
      if (std::ranges::find(instruction.outputs, id) != instruction.outputs.end())
        return is_repeated(instruction, id);
    }
    return false;
  }

  ValueId copy_of(ValueId id) {
    const auto result = static_cast<ValueId>(program_.values.size());
    program_.values.push_back(Value(program_.value(id)));
    return copies_[id] = result;
  }

  Instruction again(Instruction instruction) {
    for (ValueId& id : instruction.inputs) {
      const auto copy = copies_.find(id);
      if (copy != copies_.end()) id = copy->second;
    }
    if (std::holds_alternative<BatchNorm>(instruction.op)) {
      instruction = normalized_again(instruction);
    } else if (const auto* dropout = std::get_if<Dropout>(&instruction.op)) {
      instruction.inputs = {instruction.outputs[1], instruction.inputs[0]};
      instruction.outputs.resize(1);
      instruction.op = DropoutBackward{dropout->probability};  // the mask, applied to the input
    }
    for (ValueId& id : instruction.outputs) id = copy_of(id);
    instruction.backward = true;
    instruction.flop = 0;  // the network's work is counted once
    return instruction;
  }

  Program& program_;
  std::set<ValueId> first_wanted_;
  std::map<ValueId, ValueId> copies_;
  std::vector<Instruction> instructions_;
};

}  // namespace

void recompute_segments(Program& program) {
  if (!program.training || !program.low_memory || !blocked::supported()) return;
  const ForwardPass forward(program);
  const std::vector<Segment> segments = best_partition(forward).segments;
  std::map<ValueId, ValueId> replacements;
  std::map<ValueId, size_t> repetition_of;
  std::vector<std::vector<Instruction>> repetitions;
  // The last one is followed by its own backward pass: its values are there.
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    const Repetition repetition(program, forward, segments[i]);
    for (const auto& [from, to] : repetition.replacements()) {
      replacements[from] = to;
      repetition_of[from] = repetitions.size();
    }
    repetitions.push_back(repetition.instructions());
  }
  std::vector<Instruction> result;
  for (Instruction& instruction : program.instructions) {
    for (ValueId& id : instruction.inputs) {
      const auto found = instruction.backward ? repetition_of.find(id) : repetition_of.end();
      if (found == repetition_of.end()) continue;
      std::vector<Instruction>& repeated = repetitions[found->second];
      std::ranges::move(repeated, std::back_inserter(result));
      repeated.clear();
      id = replacements.at(id);
    }
    result.push_back(std::move(instruction));
  }
  program.instructions = std::move(result);
}

}  // namespace tacho::native
