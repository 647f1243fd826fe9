#include "distributed/link.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/clock.h"

namespace tacho {
namespace {

constexpr int kSmallRounds = 200, kLargeRounds = 5;
constexpr size_t kLargeBytes = size_t{2} << 20;

// Both send at once; the best of so many times, after one that does not count.
double exchange_ms(Communicator& ranks, int other, size_t bytes, int rounds) {
  const std::vector<std::byte> out(bytes);
  std::vector<std::byte> in(bytes);
  double best_ms = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= rounds; ++round) {
    const double begin = now_ms();
    ranks.exchange(out, other, in, other);
    if (round > 0) best_ms = std::min(best_ms, now_ms() - begin);
  }
  return best_ms;
}

}  // namespace

LinkSpeed measure_link(Communicator& ranks, int a, int b) {
  if (ranks.rank() != a && ranks.rank() != b) return {};
  const int other = ranks.rank() == a ? b : a;
  const double small_ms = exchange_ms(ranks, other, sizeof(double), kSmallRounds);
  const double large_ms = exchange_ms(ranks, other, kLargeBytes, kLargeRounds);
  const double transfer_ms = std::max(large_ms - small_ms, large_ms / 2);
  return {.latency_us = small_ms * 1e3,
          .bandwidth_gbs = static_cast<double>(kLargeBytes) / transfer_ms / 1e6};
}

}  // namespace tacho
