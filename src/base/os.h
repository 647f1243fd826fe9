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

// Another one for every start of every machine, whatever their names; empty where the system does not say.
std::string boot_id();

// The same for this installation for good and different for others: 16 hexadecimal digits that tell nothing
// about it. Made from the system's own id, or from the host's name where there is none.
std::string machine_id(const std::filesystem::path& root = "/");

}  // namespace tacho
