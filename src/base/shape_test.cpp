#include "base/shape.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Shape, HasTheProductOfItsExtentsAsElements) {
  EXPECT_EQ(elements({16, 3, 224, 224}), 2408448);
  EXPECT_EQ(elements({1, 1500, 40, 4320, 4320}), int64_t{1500} * 40 * 4320 * 4320);
  EXPECT_EQ(elements({4, 0}), 0);
  EXPECT_EQ(elements({}), 1);
}

TEST(Shape, IsSpatialBehindTheFirstTwoAxes) {
  EXPECT_EQ(spatial({2, 3, 5, 7, 9}), (Extents{5, 7, 9}));
  EXPECT_EQ(spatial({2, 3}), Extents{});
}

TEST(Shape, IsPrintedWithCrosses) {
  EXPECT_EQ(to_string(Shape{16, 3, 224, 224}), "16x3x224x224");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

}  // namespace
}  // namespace tacho
