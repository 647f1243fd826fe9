#pragma once

#include <cstdint>

namespace tacho {

int64_t total_memory_bytes();

// What this process could still take without swapping: the system's estimate, cut to the cgroup's limit.
int64_t available_memory_bytes();

int64_t resident_memory_bytes();

// The largest resident size since the last reset_peak_memory(), or since the start where the system cannot
// reset.
int64_t peak_memory_bytes();
void reset_peak_memory();

}  // namespace tacho
