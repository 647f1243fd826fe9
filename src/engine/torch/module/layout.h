#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace tacho::torch_engine {

// How activations, and weights that are not trained, lie in memory, under the names of
// CompileOptions::kernel.
enum class Layout { contiguous, channels_last };

std::vector<std::string> layouts();
Layout find_layout(const std::string& name);

// The one for a tensor with so many axes: only activations and weights with two or three spatial axes have a
// choice.
at::MemoryFormat memory_format(Layout layout, int64_t axes);

}  // namespace tacho::torch_engine
