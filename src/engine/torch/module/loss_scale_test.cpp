#include "engine/torch/module/loss_scale.h"

#include <gtest/gtest.h>

namespace tacho::torch_engine {
namespace {

TEST(LossScale, IsHalvedWhereGradientsOverflow) {
  LossScale scale;
  const double begin = scale.value();
  EXPECT_FALSE(scale.accept(false));
  EXPECT_FALSE(scale.accept(false));
  EXPECT_EQ(scale.value(), begin / 4);
  EXPECT_TRUE(scale.accept(true));
  EXPECT_EQ(scale.value(), begin / 4);
}

TEST(LossScale, IsNeverBelowOne) {
  LossScale scale;
  while (scale.reduce()) EXPECT_GE(scale.value(), 1);
  EXPECT_EQ(scale.value(), 1);
  EXPECT_FALSE(scale.accept(false));
  EXPECT_EQ(scale.value(), 1);
}

TEST(LossScale, GrowsAfterManyGoodSteps) {
  LossScale scale;
  const double begin = scale.value();
  for (int i = 1; i < LossScale::kStepsToGrow; ++i) scale.accept(true);
  scale.accept(false);
  for (int i = 1; i < LossScale::kStepsToGrow; ++i) scale.accept(true);
  EXPECT_EQ(scale.value(), begin / 2);
  scale.accept(true);
  EXPECT_EQ(scale.value(), begin);
}

}  // namespace
}  // namespace tacho::torch_engine
