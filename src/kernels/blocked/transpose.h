#pragma once

#include <algorithm>

#include "kernels/vector.h"

// Included only by files compiled for AVX2 or AVX-512, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked::TACHO_ISA {
namespace {

inline constexpr int64_t kSquare = 8;

inline void transpose_square(__m256* rows) {
  __m256 pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int half = 0; half < 2; ++half) {
      const __m256 first = pairs[i + half], second = pairs[i + half + 2];
      quads[i + 2 * half] = _mm256_shuffle_ps(first, second, _MM_SHUFFLE(1, 0, 1, 0));
      quads[i + 2 * half + 1] = _mm256_shuffle_ps(first, second, _MM_SHUFFLE(3, 2, 3, 2));
    }
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

inline constexpr int64_t kPieces = kLanes / kSquare;  // of a vector

// kSquare columns of kLanes rows, which begin at row_at(row).
template<typename RowAt>
inline void load_columns(const RowAt& row_at, Vector* columns) {
  __m256 squares[kPieces][kSquare];
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    for (int64_t i = 0; i < kSquare; ++i) squares[piece][i] = _mm256_loadu_ps(row_at(piece * kSquare + i));
    transpose_square(squares[piece]);
  }
  for (int64_t i = 0; i < kSquare; ++i) {
    __m256 pieces[kPieces];
    for (int64_t piece = 0; piece < kPieces; ++piece) pieces[piece] = squares[piece][i];
    columns[i] = from_pieces(pieces);
  }
}

// The other way round, for the first `rows` of them.
template<typename RowAt>
inline void store_columns(const Vector* columns, int64_t rows, const RowAt& row_at) {
  __m256 squares[kPieces][kSquare];
  for (int64_t i = 0; i < kSquare; ++i) {
    __m256 pieces[kPieces];
    to_pieces(columns[i], pieces);
    for (int64_t piece = 0; piece < kPieces; ++piece) squares[piece][i] = pieces[piece];
  }
  for (int64_t piece = 0; piece < kPieces; ++piece) {
    transpose_square(squares[piece]);
    for (int64_t i = 0; i < std::min(kSquare, rows - piece * kSquare); ++i)
      _mm256_storeu_ps(row_at(piece * kSquare + i), squares[piece][i]);
  }
}

}  // namespace
}  // namespace tacho::blocked::TACHO_ISA
