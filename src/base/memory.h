#pragma once

#include <cstdint>
#include <filesystem>

namespace tacho {

inline constexpr double kMib = 1 << 20;

// `root` is where the system's files are, for tests.

// The machine's memory, cut to the limits of the cgroup and of `ulimit -v`.
int64_t total_memory_bytes(const std::filesystem::path& root = "/");

// What this process could still take without swapping: the system's estimate, cut to what those limits leave.
int64_t available_memory_bytes(const std::filesystem::path& root = "/");

// Throws OutOfMemory with both figures where less than `bytes` is available.
void require_memory(int64_t bytes);

int64_t resident_memory_bytes(const std::filesystem::path& root = "/");

// The largest resident size since the last reset_peak_memory() that succeeded, or since the start.
int64_t peak_memory_bytes(const std::filesystem::path& root = "/");

// Whether the system could reset the peak to the present size.
bool reset_peak_memory();

}  // namespace tacho
