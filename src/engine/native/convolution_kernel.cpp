#include "engine/native/convolution_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/native/emit_direct.h"
#include "engine/native/emit_winograd.h"
#include "engine/native/onednn_limit.h"

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

}  // namespace

std::string_view name_of(ConvolutionKernel kernel) {
  switch (kernel) {
    case ConvolutionKernel::onednn: return "onednn";
    case ConvolutionKernel::winograd: return "winograd";
    case ConvolutionKernel::direct: return "direct";
  }
  return "";
}

std::optional<ConvolutionKernel> find_kernel(std::string_view name) {
  for (const ConvolutionKernel kernel : kConvolutionKernels) {
    if (name_of(kernel) == name) return kernel;
  }
  return std::nullopt;
}

std::vector<ConvolutionKernel> candidates(const Program& program, const Instruction& instruction) {
  if (convolution_of(instruction.op) == nullptr) return {};
  std::vector<ConvolutionKernel> kernels;
  if (within_onednn_limit(program, instruction)) kernels.push_back(ConvolutionKernel::onednn);
  if (winograd_can(program, instruction)) kernels.push_back(ConvolutionKernel::winograd);
  if (direct_can(program, instruction)) kernels.push_back(ConvolutionKernel::direct);
  return kernels;
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
