#pragma once

#include <immintrin.h>

#include "kernels/instruction_set.h"

// Vectors of kLanes floats. Included only by files compiled for AVX2 and FMA or for AVX-512, each with its
// own copy: see instruction_set_test.py.
namespace tacho::blocked::TACHO_ISA {
namespace {

#ifdef __AVX512F__

using Vector = __m512;

inline Vector zero() { return _mm512_setzero_ps(); }
inline Vector broadcast(float value) { return _mm512_set1_ps(value); }
inline Vector load(const float* from) { return _mm512_load_ps(from); }
inline Vector load_unaligned(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, Vector value) { _mm512_store_ps(to, value); }
inline void store_unaligned(float* to, Vector value) { _mm512_storeu_ps(to, value); }
inline void stream(float* to, Vector value) { _mm512_stream_ps(to, value); }

inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector negated_multiply_add(Vector a, Vector b, Vector c) { return _mm512_fnmadd_ps(a, b, c); }

// `b` where either is NaN.
inline Vector larger(Vector a, Vector b) { return _mm512_max_ps(a, b); }
inline Vector smaller(Vector a, Vector b) { return _mm512_min_ps(a, b); }

inline Vector where_positive(Vector by, Vector value, Vector otherwise) {
  return _mm512_mask_mov_ps(otherwise, _mm512_cmp_ps_mask(by, zero(), _CMP_GT_OQ), value);
}
inline Vector zero_unless_positive(Vector by, Vector value) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(by, zero(), _CMP_GT_OQ), value);
}
// NaN where a or b is, elsewhere `value`.
inline Vector nan_if_either(Vector a, Vector b, Vector value) {
  return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), broadcast(__builtin_nanf("")));
}

inline Vector round_to_whole(Vector value) {
  return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// 2^n of whole numbers.
inline Vector power_of_two(Vector n) {
  const __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
  return _mm512_castsi512_ps(_mm512_slli_epi32(biased, 23));
}

// Its pieces of 256 bits.
inline Vector from_pieces(const __m256* pieces) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(pieces[0]), pieces[1], 1);
}
inline void to_pieces(Vector value, __m256* pieces) {
  pieces[0] = _mm512_castps512_ps256(value);
  pieces[1] = _mm512_extractf32x8_ps(value, 1);
}

// sum + a * b in the register of `sum`: see below.
inline Vector with_product(Vector sum, Vector a, Vector b) {
  asm("vfmadd231ps %1, %2, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}

#else

using Vector = __m256;

inline Vector zero() { return _mm256_setzero_ps(); }
inline Vector broadcast(float value) { return _mm256_set1_ps(value); }
inline Vector load(const float* from) { return _mm256_load_ps(from); }
inline Vector load_unaligned(const float* from) { return _mm256_loadu_ps(from); }
inline void store(float* to, Vector value) { _mm256_store_ps(to, value); }
inline void store_unaligned(float* to, Vector value) { _mm256_storeu_ps(to, value); }
inline void stream(float* to, Vector value) { _mm256_stream_ps(to, value); }

inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
inline Vector negated_multiply_add(Vector a, Vector b, Vector c) { return _mm256_fnmadd_ps(a, b, c); }

// `b` where either is NaN.
inline Vector larger(Vector a, Vector b) { return _mm256_max_ps(a, b); }
inline Vector smaller(Vector a, Vector b) { return _mm256_min_ps(a, b); }

inline Vector where_positive(Vector by, Vector value, Vector otherwise) {
  return _mm256_blendv_ps(otherwise, value, _mm256_cmp_ps(by, zero(), _CMP_GT_OQ));
}
inline Vector zero_unless_positive(Vector by, Vector value) {
  return _mm256_and_ps(value, _mm256_cmp_ps(by, zero(), _CMP_GT_OQ));
}
// NaN where a or b is, elsewhere `value`.
inline Vector nan_if_either(Vector a, Vector b, Vector value) {
  return _mm256_or_ps(value, _mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

inline Vector round_to_whole(Vector value) {
  return _mm256_round_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// 2^n of whole numbers.
inline Vector power_of_two(Vector n) {
  const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}

// Its pieces of 256 bits.
inline Vector from_pieces(const __m256* pieces) { return pieces[0]; }
inline void to_pieces(Vector value, __m256* pieces) { pieces[0] = value; }

// sum + a * b in the register of `sum`. Where a kernel needs nearly all registers, GCC 12, left to itself,
// moves sums from one to another and some to the stack, which costs a quarter of the time.
inline Vector with_product(Vector sum, Vector a, Vector b) {
  asm("vfmadd231ps %1, %2, %0" : "+x"(sum) : "x"(a), "x"(b));
  return sum;
}

#endif

inline Vector broadcast_at(const float* from) { return broadcast(*from); }

static_assert(sizeof(Vector) == kLanes * sizeof(float));

// Of value_of(lane).
template<typename ValueOf>
inline Vector of_lanes(const ValueOf& value_of) {
  alignas(Vector) float values[kLanes];
#pragma GCC unroll 16
  for (int64_t lane = 0; lane < kLanes; ++lane) values[lane] = value_of(lane);
  return load(values);
}

}  // namespace
}  // namespace tacho::blocked::TACHO_ISA
