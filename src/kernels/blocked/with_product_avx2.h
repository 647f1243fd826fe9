#pragma once

#include <immintrin.h>

// Included only by files compiled for AVX2 and FMA, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked {
namespace {

// sum + a * b in the register of `sum`. Where a kernel needs nearly all 16 registers, GCC 12, left to itself,
// moves sums from one to another and some to the stack, which costs a quarter of the time.
inline __m256 with_product(__m256 sum, __m256 a, __m256 b) {
  asm("vfmadd231ps %1, %2, %0" : "+x"(sum) : "x"(a), "x"(b));
  return sum;
}

}  // namespace
}  // namespace tacho::blocked
