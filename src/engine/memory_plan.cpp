#include "engine/memory_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/saturating.h"

namespace tacho {
namespace {

struct Block {
  int64_t begin, end;
};

bool overlap_in_time(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// Those for which `measure` yields most come first.
std::vector<size_t> ordered(std::span<const Lifetime> lifetimes, int64_t (*measure)(const Lifetime&)) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t index) { return measure(lifetimes[index]); });
  return order;
}

int64_t size(const Lifetime& lifetime) { return lifetime.bytes; }
int64_t duration(const Lifetime& lifetime) { return lifetime.last - lifetime.first; }

// The start of the smallest gap between `taken` blocks that holds `bytes`; behind them all if there is none.
int64_t best_fit(std::vector<Block>& taken, int64_t bytes) {
  std::ranges::sort(taken, {}, &Block::begin);
  int64_t best_offset = -1, best_gap = kSaturated, end = 0;
  for (const Block& block : taken) {
    const int64_t gap = block.begin - end;
    if (gap >= bytes && gap < best_gap) {
      best_offset = end;
      best_gap = gap;
    }
    end = std::max(end, block.end);
  }
  return best_offset >= 0 ? best_offset : end;
}

MemoryPlan place_in_order(std::span<const Lifetime> lifetimes, const std::vector<size_t>& order,
                          int64_t alignment) {
  MemoryPlan plan{std::vector<int64_t>(lifetimes.size(), 0), 0};
  std::vector<size_t> placed;
  std::vector<Block> taken;
  for (const size_t index : order) {
    const int64_t bytes = saturating_round_up(lifetimes[index].bytes, alignment);
    if (bytes == 0) continue;
    taken.clear();
    for (const size_t other : placed) {
      if (!overlap_in_time(lifetimes[index], lifetimes[other])) continue;
      const int64_t begin = plan.offsets[other];
      taken.push_back({begin, saturating_add(begin, saturating_round_up(lifetimes[other].bytes, alignment))});
    }
    plan.offsets[index] = best_fit(taken, bytes);
    plan.total_bytes = std::max(plan.total_bytes, saturating_add(plan.offsets[index], bytes));
    placed.push_back(index);
  }
  return plan;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, int64_t alignment) {
  MemoryPlan by_size = place_in_order(lifetimes, ordered(lifetimes, size), alignment);
  MemoryPlan by_duration = place_in_order(lifetimes, ordered(lifetimes, duration), alignment);
  return by_duration.total_bytes < by_size.total_bytes ? by_duration : by_size;
}

}  // namespace tacho
