#pragma once

#include <filesystem>
#include <string>

namespace tacho {

// "Debian GNU/Linux 12 (bookworm)"; the kernel's name where the system has no other. `root` is where the
// system's files are, for tests.
std::string os_name(const std::filesystem::path& root = "/");

// "6.1.0-18-amd64".
std::string kernel_version();

std::string host_name();

}  // namespace tacho
