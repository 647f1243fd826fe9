#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tacho {

// A piece of memory and the steps [first, last] during which its content matters.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one per lifetime, aligned
  int64_t total_bytes = 0;
};

// Places lifetimes in one arena so that those which overlap in time do not overlap in memory: the largest
// or the longest first, whichever takes less, each into the tightest gap that holds it. Sizes that add up
// beyond the largest integer saturate there.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, int64_t alignment = 64);

}  // namespace tacho
