#include "kernels/blocked/blocked.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/test_lanes.h"

namespace tacho::blocked {
namespace {

constexpr float kUntouched = 77;

std::vector<float> random_floats(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  Random(1).fill_normal(values, 0, 1);
  return values;
}

class Blocked : public OnBlocks<> {};

INSTANTIATE_TEST_SUITE_P(Blocks, Blocked, with_all_lanes(), lanes_name);

TEST_P(Blocked, ScaleShiftReadsASliceAndWritesDensely) {
  const Sweep sweep = on_blocks(Sweep{.batch = 2, .channels = lanes_ + 5, .cells = 5});
  const int64_t wide = 4 * 5 * lanes_, dense = 2 * 5 * lanes_;
  const auto x = random_floats(2 * wide);
  auto scale = random_floats(sweep.channels), shift = random_floats(2 * sweep.channels);
  shift.erase(shift.begin(), shift.begin() + sweep.channels);
  for (auto* factors : {&scale, &shift}) factors->resize(static_cast<size_t>(2 * lanes_));
  std::vector<float> y(static_cast<size_t>(2 * dense), kUntouched);
  scale_shift(sweep, {x.data() + 5 * lanes_, wide}, scale.data(), shift.data(), true, {y.data(), dense});
  for (int64_t image = 0; image < 2; ++image) {
    for (int64_t i = 0; i < dense; ++i) {
      const int64_t channel = i / (5 * lanes_) * lanes_ + i % lanes_;
      const float in = x[static_cast<size_t>(image * wide + 5 * lanes_ + i)];
      const float expected = std::max(
          0.0f, std::fma(in, scale[static_cast<size_t>(channel)], shift[static_cast<size_t>(channel)]));
      EXPECT_FLOAT_EQ(y[static_cast<size_t>(image * dense + i)], expected);
    }
  }
}

TEST_P(Blocked, ScaleShiftKeepsNaN) {
  const Sweep sweep = on_blocks(Sweep{.channels = lanes_, .cells = 1});
  std::vector<float> x(static_cast<size_t>(lanes_), std::nanf("")), one(x.size(), 1);
  scale_shift(sweep, {x.data(), lanes_}, one.data(), one.data(), true, {x.data(), lanes_});
  for (const float value : x) EXPECT_TRUE(std::isnan(value));
}

TEST_P(Blocked, EluChangesOnlyItsSlice) {
  const Sweep sweep = on_blocks(Sweep{.batch = 2, .channels = lanes_ + 4, .cells = 3});
  const int64_t dense = 2 * 3 * lanes_, wide = 3 * 3 * lanes_;
  auto x = random_floats(2 * wide);
  x[0] = 0, x[1] = -200, x[2] = 1e30f, x[3] = std::nanf("");
  auto y = x;
  elu(sweep, 1.5f, {y.data(), wide});
  EXPECT_TRUE(std::isnan(y[3]));
  x[3] = y[3] = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool inside = static_cast<int64_t>(i) % wide < dense;
    const double expected = inside && x[i] < 0 ? 1.5 * std::expm1(double{x[i]}) : x[i];
    EXPECT_NEAR(y[i], expected, 3e-7 * std::abs(expected)) << x[i];
  }
}

TEST_P(Blocked, MaskPassesWhatIsAboveZeroFromSlicesToASlice) {
  const Sweep sweep = on_blocks(Sweep{.batch = 2, .channels = lanes_, .cells = 3});
  const int64_t dense = 3 * lanes_, wide = 2 * dense;
  auto by = random_floats(2 * wide);
  by[0] = 0, by[1] = std::nanf("");
  const auto x = random_floats(2 * wide);
  std::vector<float> y(static_cast<size_t>(2 * wide), kUntouched);
  mask(sweep, {by.data(), wide}, {x.data() + dense, wide}, {y.data() + dense, wide});
  for (size_t image = 0; image < 2; ++image) {
    for (size_t i = 0; i < static_cast<size_t>(dense); ++i) {
      const size_t at = image * static_cast<size_t>(wide) + i, beyond = at + static_cast<size_t>(dense);
      EXPECT_EQ(y[at], kUntouched);
      EXPECT_EQ(y[beyond], by[at] > 0 ? x[beyond] : 0);
    }
  }
}

TEST_P(Blocked, CopyWritesOnlyItsSlice) {
  const Sweep sweep = on_blocks(Sweep{.batch = 2, .channels = lanes_, .cells = 3});
  const auto dense = static_cast<size_t>(3 * lanes_), wide = 2 * dense;
  const auto x = random_floats(2 * 3 * lanes_);
  std::vector<float> y(2 * wide, kUntouched);
  copy(sweep, {x.data(), 3 * lanes_}, {y.data() + dense, 6 * lanes_});
  for (size_t image = 0; image < 2; ++image) {
    for (size_t i = 0; i < dense; ++i) {
      EXPECT_EQ(y[image * wide + i], kUntouched);
      EXPECT_EQ(y[image * wide + dense + i], x[image * dense + i]);
    }
  }
}

// Few channels and many cells: planes are cut into parts.
TEST_P(Blocked, SweepsOverAVolumeReachEveryCell) {
  const Sweep sweep = on_blocks(Sweep{.batch = 1, .channels = lanes_ + 4, .cells = 7001});
  ASSERT_GT(parts_of(sweep).parts, 3);
  const int64_t dense = 2 * sweep.cells * lanes_;
  const auto x = random_floats(dense);
  const std::vector<float> two(static_cast<size_t>(2 * lanes_), 2), one(two.size(), 1);
  const int before = omp_get_max_threads();
  for (const int threads : {1, 3, 7}) {
    omp_set_num_threads(threads);
    std::vector<float> copied(x.size(), kUntouched), scaled = copied, masked = copied, activated = x;
    copy(sweep, {x.data(), dense}, {copied.data(), dense});
    scale_shift(sweep, {x.data(), dense}, two.data(), one.data(), false, {scaled.data(), dense});
    mask(sweep, {x.data(), dense}, {scaled.data(), dense}, {masked.data(), dense});
    elu(sweep, 1, {activated.data(), dense});
    EXPECT_EQ(copied, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(scaled[i], 2 * x[i] + 1) << i;
      ASSERT_EQ(masked[i], x[i] > 0 ? scaled[i] : 0) << i;
      ASSERT_NEAR(activated[i], x[i] > 0 ? x[i] : std::expm1(x[i]), 1e-6) << i;
    }
  }
  omp_set_num_threads(before);
}

int64_t cells(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

// Floats of an image.
int64_t dense_in(const Pooling& p) { return channel_blocks(p) * cells(p.input) * p.lanes; }
int64_t dense_out(const Pooling& p) { return channel_blocks(p) * cells(p.output) * p.lanes; }

// The definition, cell by cell.
std::vector<float> plain_pool(const Pooling& p, const std::vector<float>& x, bool average,
                              bool count_padding) {
  std::vector<float> y;
  for (int64_t i = 0; i < p.batch * channel_blocks(p); ++i) {
    for (int64_t out = 0; out < cells(p.output); ++out) {
      const std::array<int64_t, 3> at = {out / (p.output[1] * p.output[2]), out / p.output[2] % p.output[1],
                                         out % p.output[2]};
      for (int64_t lane = 0; lane < p.lanes; ++lane) {
        double sum = 0, largest = -std::numeric_limits<double>::infinity();
        int64_t count = 0;
        for (int64_t k = 0; k < cells(p.kernel); ++k) {
          const std::array<int64_t, 3> tap = {k / (p.kernel[1] * p.kernel[2]), k / p.kernel[2] % p.kernel[1],
                                              k % p.kernel[2]};
          std::array<int64_t, 3> in;
          bool valid = true;
          for (size_t axis = 0; axis < 3; ++axis) {
            in[axis] = at[axis] * p.stride[axis] - p.padding[axis] + tap[axis];
            valid = valid && in[axis] >= 0 && in[axis] < p.input[axis];
          }
          if (!valid) continue;
          const int64_t cell = (in[0] * p.input[1] + in[1]) * p.input[2] + in[2];
          const double value = x[static_cast<size_t>((i * cells(p.input) + cell) * p.lanes + lane)];
          sum += value;
          if (value > largest || std::isnan(value)) largest = value;
          ++count;
        }
        const int64_t divisor = count_padding ? cells(p.kernel) : count;
        y.push_back(static_cast<float>(average ? sum / static_cast<double>(divisor) : largest));
      }
    }
  }
  return y;
}

const Pooling kPoolings[] = {
    {2, 20, {1, 7, 9}, {1, 4, 5}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}},
    {1, 8, {1, 6, 5}, {1, 3, 2}, {1, 2, 2}, {1, 2, 2}, {0, 0, 0}},
    {1, 12, {1, 5, 5}, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}},
    {1, 40, {3, 9, 7}, {3, 3, 3}, {1, 4, 4}, {1, 3, 3}, {0, 1, 1}},
    {1, 16, {4, 4, 4}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}},
};

TEST_P(Blocked, PoolingsEqualTheirDefinition) {
  for (const Pooling& pooling : kPoolings) {
    const Pooling p = on_blocks(pooling);
    const auto x = random_floats(p.batch * dense_in(p));
    constexpr int kThreads = 3;
    std::vector<float> scratch(static_cast<size_t>(pooling_scratch_floats(p, kThreads)));
    std::vector<float> y(static_cast<size_t>(p.batch * dense_out(p)), kUntouched);
    const auto expect = [&](bool average, bool count_padding) {
      const auto expected = plain_pool(p, x, average, count_padding);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-6) << i;
    };
    max_pool(p, {x.data(), dense_in(p)}, {y.data(), dense_out(p)}, scratch.data(), kThreads);
    expect(false, false);
    for (const bool count_padding : {false, true}) {
      average_pool(p, count_padding, {x.data(), dense_in(p)}, {y.data(), dense_out(p)}, scratch.data(),
                   kThreads);
      expect(true, count_padding);
    }
  }
}

TEST_P(Blocked, MaxPoolTakesNanWhereverItIsInAWindow) {
  for (const Pooling& pooling : kPoolings) {
    const Pooling p = on_blocks(pooling);
    std::vector<float> scratch(static_cast<size_t>(pooling_scratch_floats(p, 1)));
    for (size_t first = 0; first < 23; ++first) {
      auto x = random_floats(p.batch * dense_in(p));
      for (size_t i = first; i < x.size(); i += 23) x[i] = std::nanf("");
      std::vector<float> y(static_cast<size_t>(p.batch * dense_out(p)), kUntouched);
      max_pool(p, {x.data(), dense_in(p)}, {y.data(), dense_out(p)}, scratch.data(), 1);
      const auto expected = plain_pool(p, x, false, false);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), std::isnan(expected[i])) << i;
    }
  }
}

TEST(BlockedWidths, OthersAreRefused) {
  for (const int64_t lanes : {0, 4, 32})
    EXPECT_EQ(why_unsupported(lanes), "kernels are on blocks of 8 or 16 channels") << lanes;
}

}  // namespace
}  // namespace tacho::blocked
