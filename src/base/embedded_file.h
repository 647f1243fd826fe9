#pragma once

#include <span>
#include <string_view>

namespace tacho {

// A file that is part of the program (cmake/TachoEmbed.cmake).
struct EmbeddedFile {
  std::string_view name, content;
};

}  // namespace tacho
