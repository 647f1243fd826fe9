#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/native/program.h"

namespace tacho::native {

// Who computes a convolution, its data gradient or its weight gradient.
enum class ConvolutionKernel { onednn, winograd, direct };

inline constexpr std::array kConvolutionKernels = {ConvolutionKernel::onednn, ConvolutionKernel::winograd,
                                                   ConvolutionKernel::direct};

std::string_view name_of(ConvolutionKernel kernel);
std::optional<ConvolutionKernel> find_kernel(std::string_view name);

// Those that can compute an instruction on this CPU, oneDNN first; empty where it is no convolution, or one
// that is too large for oneDNN and not for ours.
std::vector<ConvolutionKernel> candidates(const Program& program, const Instruction& instruction);

// Everything about an instruction that decides how fast a kernel is: its op, shapes, and what is fused in.
std::string describe_work(const Program& program, const Instruction& instruction);

}  // namespace tacho::native
