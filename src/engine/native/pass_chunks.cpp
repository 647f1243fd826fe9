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
constexpr double kStartBytes = 256 << 10;
// Weights of kernels with several taps are packed for Winograd, about so many times as large.
constexpr double kPackedSize = 4;

bool has_batch(const Program& program, ValueId id) {
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

double bytes_of(const Program& program, ValueId id) {
  return static_cast<double>(saturating_bytes(program.shape(id), program.value(id).dtype));
}

// Instructions [begin, end) on so many chunks of the batch, one after the other.
struct Piece {
  size_t begin, end;
  int64_t chunks;
};

// What it costs, in bytes that no cache holds, to run instructions on chunks of the batch.
class Costs {
 public:
  Costs(const Program& program, int64_t cached_bytes) : cached_bytes_(static_cast<double>(cached_bytes)) {
    for (const Instruction& instruction : program.instructions) {
      // A concatenation is made by those who make its parts.
      const bool moves_nothing = std::holds_alternative<Concat>(instruction.op);
      double activations = 0, weights = 0;
      for (const ValueId id : values_of(instruction)) {
        if (has_batch(program, id)) {
          if (!moves_nothing) activations += bytes_of(program, id);
        } else {
          const Shape& shape = program.shape(id);
          const bool has_taps = shape.size() > 2 && elements(shape) > shape[0] * shape[1];
          weights += bytes_of(program, id) * (has_taps ? kPackedSize : 1);
        }
      }
      activations_.push_back(activations);
      weights_.push_back(weights);
    }
  }

  double of(const Piece& piece) const {
    const auto chunks = static_cast<double>(piece.chunks);
    double bytes = 0;
    for (size_t i = piece.begin; i < piece.end; ++i) {
      if (activations_[i] / chunks > cached_bytes_) bytes += activations_[i];
      bytes += chunks * (weights_[i] + kStartBytes);
    }
    return bytes;
  }

 private:
  double cached_bytes_;
  std::vector<double> activations_, weights_;  // by instruction
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

// Into how many chunks of that many images or more a batch can be cut, beside 1.
std::vector<int64_t> cuts_of_batch(int64_t batch, int64_t fewest_images) {
  constexpr int64_t kMostChunks = 64;
  std::vector<int64_t> counts;
  for (int64_t count = 2; count <= std::min(kMostChunks, batch / fewest_images); ++count) {
    if (batch % count == 0) counts.push_back(count);
  }
  return counts;
}

// The cheapest pieces that make up the program.
std::vector<Piece> best_pieces(const Program& program, const std::map<size_t, ValueId>& cuts,
                               const std::vector<int64_t>& counts, const Costs& costs) {
  struct Way {
    double bytes = std::numeric_limits<double>::infinity();
    Piece last = {0, 0, 1};
  };
  std::map<size_t, Way> ways = {{0, {0, {0, 0, 1}}}};
  const size_t size = program.instructions.size();
  for (size_t end = 1; end <= size; ++end) {
    if (end < size && !cuts.contains(end)) continue;
    Way best;
    const auto consider = [&](double before, const Piece& piece, double copied) {
      const double bytes = before + costs.of(piece) + copied;
      if (bytes < best.bytes) best = {bytes, piece};
    };
    for (const auto& [begin, way] : ways) {
      consider(way.bytes, {begin, end, 1}, 0);
      if (!cuts.contains(begin) || !cuts.contains(end)) continue;
      const double copied = bytes_of(program, cuts.at(begin)) + bytes_of(program, cuts.at(end));
      for (const int64_t count : counts) consider(way.bytes, {begin, end, count}, copied);
    }
    ways[end] = best;
  }
  std::vector<Piece> pieces;
  for (size_t end = size; end > 0; end = pieces.back().begin) pieces.push_back(ways.at(end).last);
  std::ranges::reverse(pieces);
  return pieces;
}

ValueId add_value_like(Program& program, ValueId id) {
  Value value = program.value(id);
  value.role = Role::activation;
  program.values.push_back(std::move(value));
  return static_cast<ValueId>(program.values.size()) - 1;
}

void add_stretch(Program& program, const Piece& piece, ValueId whole_input, ValueId result) {
  const ValueId input = add_value_like(program, whole_input), whole_result = add_value_like(program, result);
  const std::span<Instruction> all(program.instructions);
  const std::span<Instruction> inside = all.subspan(piece.begin, piece.end - piece.begin);
  std::set<ValueId> made = {input};
  for (Instruction& instruction : inside) {
    instruction.stretch = static_cast<int>(program.stretches.size());
    made.insert(instruction.outputs.begin(), instruction.outputs.end());
    for (const PostOp& post : instruction.post_ops) made.insert(post.before);
  }
  for (const ValueId id : made) program.values[static_cast<size_t>(id)].shape[0] /= piece.chunks;
  replace_value(inside, whole_input, input);
  replace_value(all.subspan(piece.end), result, whole_result);
  std::ranges::replace(program.outputs, result, whole_result);
  program.stretches.push_back({piece.chunks, whole_input, input, result, whole_result});
}

// Where every activation has it as its first extent.
std::optional<int64_t> batch_of(const Program& program) {
  if (program.inputs.size() != 1) return std::nullopt;
  const Value& input = program.value(program.inputs[0]);
  if (input.dtype != DType::f32 || input.shape.empty()) return std::nullopt;
  const int64_t batch = input.shape[0];
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
  for (const Piece& piece : best_pieces(program, cuts, cuts_of_batch(*batch, fewest_images), costs)) {
    if (piece.chunks == 1) continue;
    add_stretch(program, piece, cuts.at(piece.begin), cuts.at(piece.end));
    cuts.at(piece.end) = program.stretches.back().whole_result;
  }
}

}  // namespace tacho::native
