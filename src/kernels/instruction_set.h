#pragma once

#include <cstdint>

// Kernels on blocks of channels, and how they plan their work, are compiled once for each instruction set, in
// a namespace of its name: a block is as wide as a vector. The build says which; all else sees those of AVX2.
#ifndef TACHO_ISA
#define TACHO_ISA avx2
#endif

namespace tacho::blocked {

namespace avx2 {
inline constexpr int64_t kLanes = 8;  // channels of a block, floats of a vector
// Sums in registers, of which a few are left: of convolutions kRowsAtOnce (tiles or positions) times so many
// vectors of output channels, of weight gradients so many rows times so many vectors.
inline constexpr int64_t kSliceVectors = 2;
inline constexpr int64_t kSumRows = 4, kSumVectors = 3;
}  // namespace avx2

namespace avx512 {
inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kSliceVectors = 4;
inline constexpr int64_t kSumRows = 8, kSumVectors = 3;
}  // namespace avx512

namespace TACHO_ISA {
inline constexpr int64_t kSliceChannels = kSliceVectors * kLanes;
}

}  // namespace tacho::blocked
