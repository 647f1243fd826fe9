#pragma once

#include <dnnl.hpp>
#include <string>
#include <string_view>

#include "engine/native/program.h"

namespace tacho::native {

// oneDNN 2 counts in 32 bits in places: a step on a larger tensor may be wrong without a word. Our own
// kernels count in 64.
inline constexpr int64_t kMostOnednnElements = 2'147'483'647;

// Whether every tensor of an instruction is within the limit, channels that fill up a block included.
bool within_onednn_limit(const Program& program, const Instruction& instruction);

// Throws UserError with the layer's name where a step reads or writes more.
void require_within_onednn_limit(std::string_view layer, std::string_view kernel,
                                 const dnnl::memory::desc& desc);

}  // namespace tacho::native
