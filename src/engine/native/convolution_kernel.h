#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/native/program.h"

namespace tacho::native {

class Assembler;

// Who computes a convolution, its data gradient or its weight gradient.
enum class ConvolutionKernel { onednn, winograd, direct };

struct KernelRow {
  ConvolutionKernel kernel;
  std::string_view name;
  // Whether it computes the instruction on this CPU, with all of its post-ops.
  bool (*can)(const Program& program, const Instruction& instruction);
  void (*emit)(const Instruction& instruction, Assembler& assembler);
};

// All of them, oneDNN first.
std::span<const KernelRow> kernel_rows();
const KernelRow& row_of(ConvolutionKernel kernel);

inline std::string_view name_of(ConvolutionKernel kernel) { return row_of(kernel).name; }
std::optional<ConvolutionKernel> find_kernel(std::string_view name);

// Those that can compute an instruction on this CPU, if need be without its post-ops, oneDNN first; empty
// where it is no convolution, or one too large for oneDNN that ours cannot compute either.
std::vector<ConvolutionKernel> candidates(const Program& program, const Instruction& instruction);

// The kernel of each instruction; oneDNN where there is no choice.
using KernelChoice = std::vector<ConvolutionKernel>;

// Post-ops that the chosen kernel does not take, and those behind them, become instructions again.
void split_post_ops(Program& program, KernelChoice& choice);

// Everything about an instruction that decides how fast a kernel is: its op, shapes, and what is fused in.
std::string describe_work(const Program& program, const Instruction& instruction);

}  // namespace tacho::native
