#include "kernels/linear/linear_avx2.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <array>

#include "kernels/blocked/layout.h"
#include "kernels/instruction_set.h"

namespace tacho::linear {
namespace {

using blocked::kLineFloats;
using blocked::avx2::kLanes;
constexpr int kPrefetchLines = 8;  // for 8 inputs

// A block of inputs of some images, times a slice of the weights.
struct Product {
  const float* inputs;   // [input / 8][kMaxRows][8]
  const float* weights;  // [input][16]
  int64_t count;         // of inputs
  float* sums;           // [image][16]
  bool accumulate;       // onto the sums
  const float* prefetch;
  int64_t prefetch_step;  // for 8 inputs
};

template<int rows>
void multiply(const Product& task) {
  __m256 sums[rows][2];
#pragma GCC unroll 6
  for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      sums[row][i] = task.accumulate ? _mm256_load_ps(task.sums + row * kSliceOutputs + i * kLanes)
                                     : _mm256_setzero_ps();
    }
  }
  const float* inputs = task.inputs;
  const float* weights = task.weights;
  const auto step = [&](int64_t input) {
    const __m256 low = _mm256_load_ps(weights + input * kSliceOutputs),
                 high = _mm256_load_ps(weights + input * kSliceOutputs + kLanes);
#pragma GCC unroll 6
    for (int row = 0; row < rows; ++row) {
      const __m256 value = _mm256_broadcast_ss(inputs + row * kLanes + input);
      sums[row][0] = _mm256_fmadd_ps(value, low, sums[row][0]);
      sums[row][1] = _mm256_fmadd_ps(value, high, sums[row][1]);
    }
  };
  const float* prefetch = task.prefetch;
  int64_t left = task.count;
  for (; left >= kLanes; left -= kLanes) {
#pragma GCC unroll 8
    for (int line = 0; line < kPrefetchLines; ++line)
      _mm_prefetch(prefetch + line * kLineFloats, _MM_HINT_T1);
#pragma GCC unroll 8
    for (int64_t input = 0; input < kLanes; ++input) step(input);
    inputs += kMaxRows * kLanes;
    weights += kLanes * kSliceOutputs;
    prefetch += task.prefetch_step;
  }
  for (int64_t input = 0; input < left; ++input) step(input);
#pragma GCC unroll 6
  for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) _mm256_store_ps(task.sums + row * kSliceOutputs + i * kLanes, sums[row][i]);
  }
}

// By number of images - 1.
constexpr std::array<void (*)(const Product&), kMaxRows> kMultiply = {multiply<1>, multiply<2>, multiply<3>,
                                                                      multiply<4>, multiply<5>, multiply<6>};

// The slices of one thread.
class Share {
 public:
  Share(const Layer& layer, const Arguments& arguments, float* sums, float* copy, int64_t begin, int64_t end)
      : layer_(layer), arguments_(arguments), sums_(sums), copy_(copy), begin_(begin), end_(end) {}

  void run() const {
    for (int64_t input = 0; input < layer_.inputs; input += block_inputs(layer_)) {
      const int64_t count = std::min(block_inputs(layer_), layer_.inputs - input);
      copy_inputs(input, count);
      for (int64_t slice = begin_; slice < end_; ++slice) multiply_slice(slice, input, count);
    }
    for (int64_t slice = begin_; slice < end_; ++slice) finish(slice);
  }

 private:
  int64_t first_image(int64_t group) const { return layer_.batch * group / groups(layer_); }

  void copy_inputs(int64_t first, int64_t count) const {
    for (int64_t group = 0; group < groups(layer_); ++group) {
      for (int64_t image = first_image(group); image < first_image(group + 1); ++image) {
        const float* src = arguments_.src + image * layer_.inputs + first;
        float* copy = copy_ + group * group_floats(layer_) + (image - first_image(group)) * kLanes;
        for (int64_t i = 0; i < count; i += kLanes)
          std::copy_n(src + i, std::min(kLanes, count - i), copy + i * kMaxRows);
      }
    }
  }

  const float* weights(int64_t slice, int64_t input) const {
    return arguments_.packed_weights + (slice * layer_.inputs + input) * kSliceOutputs;
  }

  void multiply_slice(int64_t slice, int64_t input, int64_t count) const {
    const bool last = slice + 1 == end_;
    const float* next = last ? weights(begin_, input + count) : weights(slice + 1, input);
    const int64_t step = divide_up(kPrefetchLines, groups(layer_)) * kLineFloats;
    for (int64_t group = 0; group < groups(layer_); ++group) {
      const int64_t first = first_image(group), images = first_image(group + 1) - first;
      kMultiply[static_cast<size_t>(images - 1)]({copy_ + group * group_floats(layer_), weights(slice, input),
                                                  count,
                                                  sums_ + (slice * layer_.batch + first) * kSliceOutputs,
                                                  input > 0, next + group * (count / kLanes) * step, step});
    }
  }

  void finish(int64_t slice) const {
    const int64_t first = slice * kSliceOutputs, count = std::min(kSliceOutputs, layer_.outputs - first);
    for (int64_t image = 0; image < layer_.batch; ++image) {
      const float* sums = sums_ + (slice * layer_.batch + image) * kSliceOutputs;
      float* dst = arguments_.dst + image * layer_.outputs + first;
      for (int64_t i = 0; i < count; ++i) {
        const float value = sums[i] + (arguments_.bias != nullptr ? arguments_.bias[first + i] : 0.0f);
        dst[i] = arguments_.relu && value < 0 ? 0.0f : value;
      }
    }
  }

  const Layer& layer_;
  const Arguments& arguments_;
  float* sums_;
  float* copy_;
  int64_t begin_, end_;
};

}  // namespace

void forward_f32_avx2(const Layer& layer, const Arguments& arguments, float* scratch, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
    const int64_t begin = slices(layer) * thread / team, end = slices(layer) * (thread + 1) / team;
    float* copy = scratch + sums_floats(layer) + thread * copy_floats(layer);
    Share(layer, arguments, scratch, copy, begin, end).run();
  }
}

}  // namespace tacho::linear
