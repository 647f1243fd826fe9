#pragma once

#include <cstdint>
#include <limits>

// Arithmetic on sizes (never negative) that stops at the largest integer instead of wrapping.
namespace tacho {

inline constexpr int64_t kSaturated = std::numeric_limits<int64_t>::max();

inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kSaturated : sum;
}

inline int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kSaturated : product;
}

inline int64_t saturating_round_up(int64_t size, int64_t multiple) {
  return saturating_multiply(size / multiple + (size % multiple != 0), multiple);
}

}  // namespace tacho
