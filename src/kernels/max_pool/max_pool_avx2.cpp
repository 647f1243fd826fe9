#include "kernels/max_pool/max_pool_body.h"
#include "kernels/max_pool/max_pool_vectors.h"

namespace tacho::max_pool {

void forward_f32_avx2(const Pooling& pooling, const float* src, float* dst, uint8_t* argmax, int threads) {
  forward_by<8>(pooling, src, dst, argmax, threads);
}

void backward_f32_avx2(const Pooling& pooling, const uint8_t* argmax, const float* diff_dst, float* diff_src,
                       int threads) {
  backward_by<8>(pooling, argmax, diff_dst, diff_src, threads);
}

}  // namespace tacho::max_pool
