#pragma once

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>

#include "base/error.h"

namespace tacho::torch_engine {

// Runs `work`, whose errors by libtorch, of many lines that end in a stack, become one line.
template<typename Work>
auto translated(Work&& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    const std::string line = text.substr(0, text.find('\n'));
    if (text.find("alloc") != std::string::npos) throw OutOfMemory("libtorch: " + line);
    throw std::runtime_error("libtorch: " + line);
  }
}

}  // namespace tacho::torch_engine
