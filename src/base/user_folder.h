#pragma once

#include <filesystem>
#include <optional>

namespace tacho {

// The user's folder for one kind of files: what the environment variable `variable` names, such as
// XDG_DATA_HOME, or `below_home` under HOME. Nothing where neither is set.
std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home);

}  // namespace tacho
