#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tacho::torch_engine {

inline std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return "libtorch: " + text.substr(0, text.find('\n'));
}

// Runs `work`, whose errors by libtorch, of many lines that end in a stack, become one line.
template<typename Work>
auto translated(Work&& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemory(first_line(error));
  } catch (const c10::Error& error) {
    // Only a GPU's allocator throws the other; CUDA's libraries name a status.
    const std::string_view text = error.what_without_backtrace();
    const bool is_memory = text.find("DefaultCPUAllocator") != std::string_view::npos ||
                           text.find("ALLOC_FAILED") != std::string_view::npos;
    if (is_memory) throw OutOfMemory(first_line(error));
    throw std::runtime_error(first_line(error));
  }
}

}  // namespace tacho::torch_engine
