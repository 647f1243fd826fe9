#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tacho {

// A user's mistake. The text says what is wrong, where, and what would be right, in one line.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template<typename... Args>
  explicit UserError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// The work asked for does not fit into the memory this process may use.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tacho
