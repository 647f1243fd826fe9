#pragma once

#include "kernels/max_pool/max_pool.h"

// What max_pool.h offers, for CPUs with AVX2 and lanes that are a multiple of 8, and for those with AVX-512
// and lanes that are a multiple of 16.
namespace tacho::max_pool {

void forward_f32_avx2(const Pooling& pooling, const float* src, float* dst, uint8_t* argmax, int threads);
void backward_f32_avx2(const Pooling& pooling, const uint8_t* argmax, const float* diff_dst, float* diff_src,
                       int threads);

void forward_f32_avx512(const Pooling& pooling, const float* src, float* dst, uint8_t* argmax, int threads);
void backward_f32_avx512(const Pooling& pooling, const uint8_t* argmax, const float* diff_dst,
                         float* diff_src, int threads);

}  // namespace tacho::max_pool
