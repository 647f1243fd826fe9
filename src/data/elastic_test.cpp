#include "data/elastic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

TEST(ElasticField, MovesWithoutFoldingThePlane) {
  constexpr int64_t kHeight = 70, kWidth = 131;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ElasticField field(kHeight, kWidth, Random(seed));
    const auto at = [&](const std::vector<float>& along, int64_t y, int64_t x) {
      return along[static_cast<size_t>(y * kWidth + x)];
    };
    float longest = 0;
    for (int64_t y = 0; y + 1 < kHeight; ++y) {
      for (int64_t x = 0; x + 1 < kWidth; ++x) {
        const auto slope = [&](const std::vector<float>& along, int64_t dy, int64_t dx) {
          return at(along, y + dy, x + dx) - at(along, y, x);
        };
        const float area = (1 + slope(field.along_y(), 1, 0)) * (1 + slope(field.along_x(), 0, 1)) -
                           slope(field.along_y(), 0, 1) * slope(field.along_x(), 1, 0);
        ASSERT_GT(area, 0) << "seed " << seed;
        longest = std::max(longest, std::abs(at(field.along_y(), y, x)));
      }
    }
    EXPECT_GT(longest, 2);
    EXPECT_LE(longest, ElasticField::kLongest);
  }
}

}  // namespace
}  // namespace tacho
