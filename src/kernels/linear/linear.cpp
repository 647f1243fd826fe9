#include "kernels/linear/linear.h"

#include <algorithm>
#include <cassert>

#include "base/cpu.h"
#include "kernels/linear/linear_avx2.h"

namespace tacho::linear {

std::optional<std::string> why_unsupported(const Layer& layer) {
  if (widest_instruction_set() < InstructionSet::avx2) return "the linear kernel needs AVX2";
  if (layer.batch < 1 || layer.inputs < 1 || layer.outputs < 1)
    return "the batch, inputs and outputs must be positive";
  return std::nullopt;
}

int64_t packed_weights_floats(const Layer& layer) { return slices(layer) * layer.inputs * kSliceOutputs; }

void pack_weights(const Layer& layer, const float* weights, float* packed, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t slice = 0; slice < slices(layer); ++slice) {
    const int64_t first = slice * kSliceOutputs, count = std::min(kSliceOutputs, layer.outputs - first);
    float* target = packed + first * layer.inputs;
    for (int64_t input = 0; input < layer.inputs; ++input, target += kSliceOutputs) {
      for (int64_t i = 0; i < count; ++i) target[i] = weights[(first + i) * layer.inputs + input];
      std::fill(target + count, target + kSliceOutputs, 0.0f);
    }
  }
}

Split pack_weights_split(const Layer& layer) { return evenly(slices(layer)); }

int64_t scratch_floats(const Layer& layer, int threads) {
  return sums_floats(layer) + threads * copy_floats(layer);
}

void forward(const Layer& layer, const Arguments& arguments, float* scratch, int threads) {
  assert(!why_unsupported(layer));
  forward_f32_avx2(layer, arguments, scratch, threads);
}

Split forward_split(const Layer& layer) { return evenly(slices(layer)); }

}  // namespace tacho::linear
