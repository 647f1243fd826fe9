#include "base/user_folder.h"

#include <cstdlib>

namespace tacho {

std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home) {
  const char* folder = std::getenv(variable);
  if (folder != nullptr && *folder != '\0') return folder;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return std::nullopt;
  return std::filesystem::path(home) / below_home;
}

}  // namespace tacho
