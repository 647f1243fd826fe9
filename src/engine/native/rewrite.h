#pragma once

#include <span>
#include <vector>

#include "engine/native/program.h"

namespace tacho::native {

// Collects the instructions that a pass makes superfluous and drops them when it ends.
class Removal {
 public:
  explicit Removal(Program& program) : program_(program), removed_(program.instructions.size()) {}
  ~Removal();
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

  void remove(int instruction) { removed_[static_cast<size_t>(instruction)] = true; }

 private:
  Program& program_;
  std::vector<bool> removed_;
};

// Makes every reader of `from`, the caller included, read `to`.
void replace_value(Program& program, ValueId from, ValueId to);
// Makes these instructions alone read it.
void replace_value(std::span<Instruction> instructions, ValueId from, ValueId to);

// Whether it is a batch norm of training that our own kernels compute: oneDNN's, of matrices and signals,
// take no statistics that another one found.
bool can_normalize_again(const Program& program, const Instruction& instruction);

// Whether our own kernels compute a batch norm of this value, and its gradient.
bool normalizes_in_blocks(const Program& program, ValueId x);

// Such a batch norm once more, with the statistics that it found: it yields the same first output, in
// the backward pass.
Instruction normalized_again(const Instruction& norm);

inline bool is_activation(const Op& op) {
  return std::holds_alternative<Relu>(op) || std::holds_alternative<Elu>(op) ||
         std::holds_alternative<Sigmoid>(op);
}

}  // namespace tacho::native
