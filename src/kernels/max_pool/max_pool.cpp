#include "kernels/max_pool/max_pool.h"

#include <cassert>

#include "base/cpu.h"
#include "kernels/max_pool/max_pool_body.h"
#include "kernels/max_pool/max_pool_vectors.h"

namespace tacho::max_pool {
namespace {

bool by_avx2(const Pooling& pooling) {
  return pooling.lanes % 8 == 0 && widest_instruction_set() >= InstructionSet::avx2;
}
bool by_avx512(const Pooling& pooling) {
  return pooling.lanes % 16 == 0 && widest_instruction_set() >= InstructionSet::avx512;
}

}  // namespace

int64_t argmax_bytes(const Pooling& pooling) {
  return pooling.batch * pooling.blocks * cells(pooling.output) * pooling.lanes;
}

void forward(const Pooling& pooling, const float* src, float* dst, uint8_t* argmax, int threads) {
  assert(argmax == nullptr || cells(pooling.kernel) <= 256);
  const auto kernel = by_avx512(pooling)       ? forward_f32_avx512
                      : by_avx2(pooling)       ? forward_f32_avx2
                      : pooling.lanes % 4 == 0 ? forward_by<4>
                                               : forward_by<1>;
  kernel(pooling, src, dst, argmax, threads);
}

Split forward_split(const Pooling& pooling) { return evenly(all_rows(pooling)); }

void backward(const Pooling& pooling, const uint8_t* argmax, const float* diff_dst, float* diff_src,
              int threads) {
  const auto kernel = by_avx512(pooling)       ? backward_f32_avx512
                      : by_avx2(pooling)       ? backward_f32_avx2
                      : pooling.lanes % 4 == 0 ? backward_by<4>
                                               : backward_by<1>;
  kernel(pooling, argmax, diff_dst, diff_src, threads);
}

Split backward_split(const Pooling& pooling) { return {{loop_over(backward_parts(pooling))}}; }

}  // namespace tacho::max_pool
