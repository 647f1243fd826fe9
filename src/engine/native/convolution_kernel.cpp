#include "engine/native/convolution_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/native/emit_direct.h"
#include "engine/native/emit_onednn.h"
#include "engine/native/emit_winograd.h"

namespace tacho::native {
namespace {

// Of an instruction that is a convolution or one of its gradients; null otherwise.
const Convolution* convolution_of(const Op& op) {
  if (const auto* forward = std::get_if<Convolution>(&op)) return forward;
  if (const auto* data = std::get_if<ConvolutionBackwardData>(&op)) return &data->forward;
  if (const auto* weights = std::get_if<ConvolutionBackwardWeights>(&op)) return &weights->forward;
  return nullptr;
}

std::string describe_post_ops(const std::vector<PostOp>& post_ops) {
  std::string text;
  for (const PostOp& post : post_ops) text += fmt::format(" {}", name_of(post.op));
  return text;
}

// The instruction with the first `count` of its post-ops only.
Instruction with_post_ops(const Instruction& whole, size_t count) {
  Instruction result = whole;
  if (count == whole.post_ops.size()) return result;
  result.outputs[0] = whole.post_ops[count].before;
  result.post_ops.erase(result.post_ops.begin() + static_cast<std::ptrdiff_t>(count), result.post_ops.end());
  return result;
}

Instruction post_op_alone(const Instruction& whole, size_t at) {
  const PostOp& post = whole.post_ops[at];
  const bool is_last = at + 1 == whole.post_ops.size();
  std::vector<ValueId> inputs = {post.before};
  if (std::holds_alternative<Add>(post.op)) inputs = {post.before, post.operand};
  if (std::holds_alternative<ReluBackward>(post.op)) inputs = {post.operand, post.before};
  Instruction result = {post.op,
                        whole.name,
                        inputs,
                        {is_last ? whole.outputs[0] : whole.post_ops[at + 1].before},
                        whole.backward};
  result.stretch = whole.stretch;
  return result;
}

size_t post_ops_taken(const Program& program, const Instruction& whole, ConvolutionKernel kernel) {
  size_t count = whole.post_ops.size();
  while (count > 0 && !row_of(kernel).can(program, with_post_ops(whole, count))) --count;
  return count;
}

}  // namespace

std::span<const KernelRow> kernel_rows() {
  static constexpr KernelRow kRows[] = {
      {ConvolutionKernel::onednn, "onednn", onednn_can, emit_onednn},
      {ConvolutionKernel::winograd, "winograd", winograd_can, emit_winograd},
      {ConvolutionKernel::direct, "direct", direct_can, emit_direct},
  };
  return kRows;
}

const KernelRow& row_of(ConvolutionKernel kernel) {
  return *std::ranges::find(kernel_rows(), kernel, &KernelRow::kernel);
}

std::optional<ConvolutionKernel> find_kernel(std::string_view name) {
  const auto row = std::ranges::find(kernel_rows(), name, &KernelRow::name);
  if (row == kernel_rows().end()) return std::nullopt;
  return row->kernel;
}

std::vector<ConvolutionKernel> candidates(const Program& program, const Instruction& instruction) {
  if (convolution_of(instruction.op) == nullptr) return {};
  const Instruction bare = with_post_ops(instruction, 0);
  std::vector<ConvolutionKernel> kernels;
  for (const KernelRow& row : kernel_rows()) {
    if (row.can(program, bare)) kernels.push_back(row.kernel);
  }
  return kernels;
}

void split_post_ops(Program& program, KernelChoice& choice) {
  std::vector<Instruction> instructions;
  KernelChoice kernels;
  const auto add = [&](Instruction instruction, ConvolutionKernel kernel) {
    instructions.push_back(std::move(instruction));
    kernels.push_back(kernel);
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& whole = program.instructions[i];
    const size_t taken = convolution_of(whole.op) == nullptr ? whole.post_ops.size()
                                                             : post_ops_taken(program, whole, choice[i]);
    add(with_post_ops(whole, taken), choice[i]);
    for (size_t at = taken; at < whole.post_ops.size(); ++at)
      add(post_op_alone(whole, at), ConvolutionKernel::onednn);
  }
  program.instructions = std::move(instructions);
  choice = std::move(kernels);
}

std::string describe_work(const Program& program, const Instruction& instruction) {
  const Convolution& op = *convolution_of(instruction.op);
  const auto shape = [&](ValueId id) { return fmt::format("{}", fmt::join(program.shape(id), "x")); };
  // Training packs weights in each pass whatever the memory.
  const std::string_view how = program.training ? " training" : program.low_memory ? " low-memory" : "";
  std::string text = fmt::format("{}{}", name_of(instruction.op), how);
  for (const ValueId id : instruction.inputs) text += fmt::format(" {}", shape(id));
  for (const ValueId id : instruction.outputs) text += fmt::format(" >{}", shape(id));
  text += fmt::format(" stride {} padding {} dilation {} groups {}", fmt::join(op.stride, ","),
                      fmt::join(op.padding, ","), fmt::join(op.dilation, ","), op.groups);
  return text + describe_post_ops(instruction.post_ops) + (instruction.folded ? " folded" : "");
}

}  // namespace tacho::native
