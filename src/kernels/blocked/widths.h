#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho::blocked {

// Why there are no kernels on blocks of so many channels on this CPU; nothing when there are.
std::optional<std::string> why_unsupported(int64_t lanes);

// Of which blocks they compute the most at once: 16, where 512 bits at a time compute more than 256, else 8.
int64_t fastest_lanes();

// Whether there are kernels on those.
bool supported();

}  // namespace tacho::blocked
