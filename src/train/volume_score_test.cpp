#include "train/volume_score.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tacho {
namespace {

Epoch reported(const VolumeScore& score) {
  Epoch epoch;
  score.report(epoch);
  return epoch;
}

// Channels of four voxels, of which 4, 1 and 2 are connected.
const std::vector<float> kTargets = {1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0};

TEST(VolumeScore, OfTheTruthIsTheBest) {
  VolumeScore score;
  score.add(kTargets, kTargets);
  const Epoch epoch = reported(score);
  EXPECT_DOUBLE_EQ(*epoch.test_loss, -3);
  EXPECT_DOUBLE_EQ(*epoch.boundary_f1, 1);
}

TEST(VolumeScore, ComparesWithTheBestConstantOfEachChannel) {
  VolumeScore score;
  score.add(kTargets, kTargets);
  // Where a share p is 1, the constant sqrt(p) is best and loses -sqrt(p).
  EXPECT_NEAR(*reported(score).constant_loss, -(1 + std::sqrt(0.25) + std::sqrt(0.5)), 1e-4);
  VolumeScore constant;
  std::vector<float> answer(12, 1);
  for (size_t i = 4; i < 12; ++i) answer[i] = i < 8 ? 0.5f : static_cast<float>(std::sqrt(0.5));
  constant.add(answer, kTargets);
  EXPECT_NEAR(*reported(constant).test_loss, *reported(constant).constant_loss, 1e-4);
}

TEST(VolumeScore, CountsBoundariesThatAreFoundMissedAndMadeUp) {
  VolumeScore score;
  std::vector<float> answer = kTargets;
  answer[0] = 0.4f;  // made up
  answer[4] = 0.6f;  // missed; four are found
  score.add(answer, kTargets);
  EXPECT_DOUBLE_EQ(*reported(score).boundary_f1, 2 * 4 / (2 * 4 + 1 + 1.0));
}

TEST(VolumeScore, FindsBoundariesAlsoWhereTheyAreTheTarget) {
  VolumeScore score(VolumeTargets::boundaries);
  std::vector<float> answer = kTargets;
  answer[0] = 0.4f;  // missed; six are found
  score.add(answer, kTargets);
  EXPECT_DOUBLE_EQ(*reported(score).boundary_f1, 2 * 6 / (2 * 6 + 1.0));
}

TEST(VolumeScore, IsTheMeanOverWindows) {
  VolumeScore both, first, second;
  const std::vector<float> half(12, 0.5f);
  first.add(kTargets, kTargets);
  second.add(half, kTargets);
  std::vector<double> sums(first.sums().begin(), first.sums().end());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += second.sums()[i];
  both.set_sums(sums);
  EXPECT_DOUBLE_EQ(*reported(both).test_loss, (*reported(first).test_loss + *reported(second).test_loss) / 2);
}

}  // namespace
}  // namespace tacho
