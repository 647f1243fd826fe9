#include "kernels/blocked/blocked.h"

#include <cassert>

#include "kernels/blocked/blocked_kernels.h"
#include "kernels/blocked/widths.h"

namespace tacho::blocked {
namespace {

const Kernels& kernels(int64_t lanes) {
  assert(!why_unsupported(lanes));
  return lanes == 16 ? avx512::kKernels : avx2::kKernels;
}

}  // namespace

Loop loop_over(const PlaneParts& parts, double work) {
  const int64_t pieces = parts.planes * parts.pieces;
  return {.items = parts.items(), .work = work * static_cast<double>(pieces), .pieces = pieces};
}

Split sweep_split(const Sweep& sweep) { return {{loop_over(parts_of(sweep))}}; }

void copy(const Sweep& sweep, Source src, Target dst) { kernels(sweep.lanes).copy(sweep, src, dst); }

void scale_shift(const Sweep& sweep, Source src, const float* scale, const float* shift, bool relu,
                 Target dst) {
  kernels(sweep.lanes).scale_shift(sweep, src, scale, shift, relu, dst);
}

void elu(const Sweep& sweep, float alpha, Target y) { kernels(sweep.lanes).elu(sweep, alpha, y); }

void mask(const Sweep& sweep, Source by, Source x, Target y) { kernels(sweep.lanes).mask(sweep, by, x, y); }

Split pooling_split(const Pooling& pooling) { return {{loop_over(parts_of(pooling))}}; }

int64_t pooling_scratch_floats(const Pooling& pooling, int threads) {
  return threads * pooling.input[2] * pooling.lanes;
}

void max_pool(const Pooling& pooling, Source src, Target dst, float* scratch, int threads) {
  kernels(pooling.lanes).max_pool(pooling, src, dst, scratch, threads);
}

void average_pool(const Pooling& pooling, bool count_padding, Source src, Target dst, float* scratch,
                  int threads) {
  kernels(pooling.lanes).average_pool(pooling, count_padding, src, dst, scratch, threads);
}

}  // namespace tacho::blocked
