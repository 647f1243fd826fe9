#include "kernels/max_pool/max_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace tacho::max_pool {
namespace {

constexpr float kUntouched = 77, kNan = std::numeric_limits<float>::quiet_NaN();

int64_t cells(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

// Floats between images that belong to neither.
constexpr int64_t kGap = 16;

Pooling with_strides(Pooling p) {
  p.src_batch_stride = p.blocks * cells(p.input) * p.lanes + kGap;
  p.dst_batch_stride = p.blocks * cells(p.output) * p.lanes + kGap;
  return p;
}

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  Random(seed).fill_normal(values, 0, 1);
  return values;
}

// Calls visit(output, offset of it, argmax of it, offset of its window's plane) for each output.
template<typename Visit>
void for_outputs(const Pooling& p, const Visit& visit) {
  for (int64_t image = 0; image < p.batch; ++image) {
    for (int64_t block = 0; block < p.blocks; ++block) {
      for (int64_t cell = 0; cell < cells(p.output); ++cell) {
        for (int64_t lane = 0; lane < p.lanes; ++lane) {
          const int64_t dst = (block * cells(p.output) + cell) * p.lanes + lane;
          visit(cell, image * p.dst_batch_stride + dst, image * p.blocks * cells(p.output) * p.lanes + dst,
                image * p.src_batch_stride + block * cells(p.input) * p.lanes + lane);
        }
      }
    }
  }
}

// The cell of the input under a tap, -1 outside.
int64_t cell_under(const Pooling& p, int64_t output, int64_t tap) {
  int64_t cell = 0, places = cells(p.output), taps = cells(p.kernel);
  for (size_t axis = 0; axis < 3; ++axis) {
    places /= p.output[axis];
    taps /= p.kernel[axis];
    const int64_t at =
        output / places % p.output[axis] * p.stride[axis] - p.padding[axis] + tap / taps % p.kernel[axis];
    if (at < 0 || at >= p.input[axis]) return -1;
    cell = cell * p.input[axis] + at;
  }
  return cell;
}

const Pooling kPoolings[] = {
    with_strides({2, 2, 8, {1, 7, 9}, {1, 4, 5}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}}),
    with_strides({1, 1, 16, {1, 6, 5}, {1, 3, 2}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}}),
    with_strides({2, 3, 1, {1, 5, 5}, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}}),
    with_strides({1, 3, 8, {3, 9, 7}, {3, 3, 3}, {1, 4, 4}, {1, 3, 3}, {0, 1, 1}}),
    with_strides({3, 1, 13, {4, 4, 4}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}}),
    with_strides({1, 1, 12, {1, 8, 8}, {1, 4, 4}, {1, 3, 3}, {1, 2, 2}, {0, 0, 0}}),   // overhanging
    with_strides({1, 2, 8, {1, 23, 9}, {1, 12, 5}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}}),  // in parts
    with_strides({1, 1, 16, {19, 5, 4}, {10, 3, 2}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}}),
    with_strides({2, 1, 48, {1, 7, 6}, {1, 3, 3}, {1, 3, 2}, {1, 2, 2}, {0, 0, 0}}),  // channels last
};

struct Pooled {
  std::vector<float> dst;
  std::vector<uint8_t> argmax;
};

Pooled pooled(const Pooling& p, const std::vector<float>& src) {
  Pooled result = {std::vector<float>(static_cast<size_t>(p.batch * p.dst_batch_stride), kUntouched),
                   std::vector<uint8_t>(static_cast<size_t>(argmax_bytes(p)))};
  forward(p, src.data(), result.dst.data(), result.argmax.data(), 2);
  return result;
}

TEST(MaxPool, TakesTheFirstOfTheLargest) {
  for (const Pooling& p : kPoolings) {
    auto src = random_floats(p.batch * p.src_batch_stride, 1);
    for (float& value : src) value = std::round(value);  // many are equal
    const Pooled result = pooled(p, src);
    auto without_argmax = std::vector<float>(result.dst.size(), kUntouched);
    forward(p, src.data(), without_argmax.data(), nullptr, 3);
    EXPECT_EQ(without_argmax, result.dst);
    for_outputs(p, [&](int64_t output, int64_t to, int64_t argmax, int64_t plane) {
      float best = -std::numeric_limits<float>::infinity();
      int64_t best_tap = -1;
      for (int64_t tap = 0; tap < cells(p.kernel); ++tap) {
        const int64_t cell = cell_under(p, output, tap);
        if (cell < 0 || src[static_cast<size_t>(plane + cell * p.lanes)] <= best) continue;
        best = src[static_cast<size_t>(plane + cell * p.lanes)];
        best_tap = tap;
      }
      ASSERT_EQ(result.dst[static_cast<size_t>(to)], best);
      ASSERT_EQ(result.argmax[static_cast<size_t>(argmax)], best_tap);
    });
    EXPECT_EQ(result.dst.back(), kUntouched);  // between images
  }
}

TEST(MaxPool, TakesNanWhereverItIsInAWindow) {
  for (const Pooling& p : kPoolings) {
    for (int64_t nan_cell = 0; nan_cell < cells(p.input); nan_cell += 1 + cells(p.input) / 12) {
      auto src = random_floats(p.batch * p.src_batch_stride, 2);
      const auto is_nan = [&](int64_t cell, int64_t plane) { return cell == nan_cell && plane % 3 == 0; };
      for_outputs(p, [&](int64_t, int64_t, int64_t, int64_t plane) {
        if (is_nan(nan_cell, plane)) src[static_cast<size_t>(plane + nan_cell * p.lanes)] = kNan;
      });
      const Pooled result = pooled(p, src);
      for_outputs(p, [&](int64_t output, int64_t to, int64_t argmax, int64_t plane) {
        int64_t nan_tap = -1;
        for (int64_t tap = 0; tap < cells(p.kernel); ++tap) {
          if (is_nan(cell_under(p, output, tap), plane)) nan_tap = tap;
        }
        ASSERT_EQ(std::isnan(result.dst[static_cast<size_t>(to)]), nan_tap >= 0);
        if (nan_tap < 0) return;
        ASSERT_EQ(result.argmax[static_cast<size_t>(argmax)], nan_tap);
      });
    }
  }
}

TEST(MaxPool, GivesAWindowOfNothingButMinusInfinityATapInside) {
  const Pooling& p = kPoolings[0];
  const std::vector<float> src(static_cast<size_t>(p.batch * p.src_batch_stride),
                               -std::numeric_limits<float>::infinity());
  const Pooled result = pooled(p, src);
  for_outputs(p, [&](int64_t output, int64_t to, int64_t argmax, int64_t) {
    ASSERT_EQ(result.dst[static_cast<size_t>(to)], -std::numeric_limits<float>::infinity());
    ASSERT_GE(cell_under(p, output, result.argmax[static_cast<size_t>(argmax)]), 0);
  });
}

TEST(MaxPool, SendsGradientsBackToTheMaxima) {
  for (const Pooling& p : kPoolings) {
    const auto src = random_floats(p.batch * p.src_batch_stride, 3);
    const auto dy = random_floats(p.batch * p.dst_batch_stride, 4);
    const Pooled result = pooled(p, src);
    std::vector<double> expected(src.size());
    for_outputs(p, [&](int64_t output, int64_t to, int64_t argmax, int64_t plane) {
      const int64_t cell = cell_under(p, output, result.argmax[static_cast<size_t>(argmax)]);
      expected[static_cast<size_t>(plane + cell * p.lanes)] += dy[static_cast<size_t>(to)];
    });
    for (const int threads : {1, 3, 7}) {
      std::vector<float> dx(src.size(), kUntouched);
      backward(p, result.argmax.data(), dy.data(), dx.data(), threads);
      for (size_t i = 0; i < dx.size(); ++i) {
        const bool between_images = static_cast<int64_t>(i) % p.src_batch_stride >= p.src_batch_stride - kGap;
        ASSERT_NEAR(dx[i], between_images ? kUntouched : expected[i], 1e-6) << i;
      }
    }
  }
}

}  // namespace
}  // namespace tacho::max_pool
