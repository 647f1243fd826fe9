#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/blocked/blocked.h"

namespace tacho::blocked {
namespace {

int64_t block_count(int64_t channels) { return (channels + kLanes - 1) / kLanes; }

// The part of a window that lies inside the input, along one axis.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range inside(const Pooling& p, int axis, int64_t output) {
  const int64_t first = output * p.stride[axis] - p.padding[axis];
  return {std::max<int64_t>(first, 0), std::min(first + p.kernel[axis], p.input[axis])};
}

struct Max {
  static __m256 start() { return _mm256_set1_ps(-std::numeric_limits<float>::infinity()); }
  static __m256 join(__m256 a, __m256 b) { return _mm256_max_ps(b, a); }
};
struct Sum {
  static __m256 start() { return _mm256_setzero_ps(); }
  static __m256 join(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
};

// Joins the window's rows of one output row, column by column.
template<typename Join>
void join_rows(const Pooling& p, const float* block, Range depths, Range rows, float* columns) {
  const int64_t width = p.input[2];
  const float* first = nullptr;
  for (int64_t z = depths.begin; z < depths.end; ++z) {
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      const float* row = block + (z * p.input[1] + y) * width * kLanes;
      if (first == nullptr) {
        first = row;
        std::memcpy(columns, row, static_cast<size_t>(width * kLanes) * sizeof(float));
        continue;
      }
      for (int64_t x = 0; x < width * kLanes; x += kLanes) {
        _mm256_storeu_ps(columns + x, Join::join(_mm256_loadu_ps(columns + x), _mm256_loadu_ps(row + x)));
      }
    }
  }
}

template<typename Join>
__m256 join_columns(const float* columns, Range range) {
  __m256 result = Join::start();
  for (int64_t x = range.begin; x < range.end; ++x)
    result = Join::join(result, _mm256_loadu_ps(columns + x * kLanes));
  return result;
}

// `finish` turns a joined window of `cells` cells into the output.
template<typename Join, typename Finish>
void pool_block(const Pooling& p, const float* src, float* dst, float* columns, const Finish& finish) {
  for (int64_t z = 0; z < p.output[0]; ++z) {
    const Range depths = inside(p, 0, z);
    for (int64_t y = 0; y < p.output[1]; ++y) {
      const Range rows = inside(p, 1, y);
      join_rows<Join>(p, src, depths, rows, columns);
      float* out = dst + (z * p.output[1] + y) * p.output[2] * kLanes;
      for (int64_t x = 0; x < p.output[2]; ++x) {
        const Range range = inside(p, 2, x);
        const __m256 joined = join_columns<Join>(columns, range);
        _mm256_storeu_ps(out + x * kLanes, finish(joined, depths.size() * rows.size() * range.size()));
      }
    }
  }
}

int64_t cells(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

template<typename Join, typename Finish>
void pool(const Pooling& p, Source src, Target dst, float* scratch, int threads, const Finish& finish) {
  const int64_t blocks = block_count(p.channels);
  const int64_t src_block = cells(p.input) * kLanes, dst_block = cells(p.output) * kLanes;
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t image = 0; image < p.batch; ++image) {
    for (int64_t block = 0; block < blocks; ++block) {
      pool_block<Join>(p, src.data + image * src.batch_stride + block * src_block,
                       dst.data + image * dst.batch_stride + block * dst_block,
                       scratch + omp_get_thread_num() * p.input[2] * kLanes, finish);
    }
  }
}

}  // namespace

void copy(const Sweep& sweep, Source src, Target dst) {
  const int64_t blocks = block_count(sweep.channels), block_floats = sweep.cells * kLanes;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t image = 0; image < sweep.batch; ++image) {
    for (int64_t block = 0; block < blocks; ++block) {
      std::memcpy(dst.data + image * dst.batch_stride + block * block_floats,
                  src.data + image * src.batch_stride + block * block_floats,
                  static_cast<size_t>(block_floats) * sizeof(float));
    }
  }
}

void scale_shift(const Sweep& sweep, Source src, const float* scale, const float* shift, bool relu,
                 Target dst) {
  const int64_t blocks = block_count(sweep.channels), block_floats = sweep.cells * kLanes;
  const __m256 floor = _mm256_set1_ps(relu ? 0 : -std::numeric_limits<float>::infinity());
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t image = 0; image < sweep.batch; ++image) {
    for (int64_t block = 0; block < blocks; ++block) {
      const __m256 factor = _mm256_loadu_ps(scale + block * kLanes);
      const __m256 offset = _mm256_loadu_ps(shift + block * kLanes);
      const float* x = src.data + image * src.batch_stride + block * block_floats;
      float* y = dst.data + image * dst.batch_stride + block * block_floats;
      for (int64_t i = 0; i < block_floats; i += kLanes) {
        const __m256 value = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), factor, offset);
        _mm256_storeu_ps(y + i, _mm256_max_ps(floor, value));  // this order of operands keeps NaN
      }
    }
  }
}

int64_t pooling_scratch_floats(const Pooling& pooling, int threads) {
  return threads * pooling.input[2] * kLanes;
}

void max_pool(const Pooling& pooling, Source src, Target dst, float* scratch, int threads) {
  pool<Max>(pooling, src, dst, scratch, threads, [](__m256 joined, int64_t) { return joined; });
}

void average_pool(const Pooling& pooling, bool count_padding, Source src, Target dst, float* scratch,
                  int threads) {
  const int64_t all = cells(pooling.kernel);
  pool<Sum>(pooling, src, dst, scratch, threads, [=](__m256 joined, int64_t counted) {
    const auto divisor = static_cast<float>(count_padding ? all : counted);
    return _mm256_div_ps(joined, _mm256_set1_ps(divisor));
  });
}

}  // namespace tacho::blocked
