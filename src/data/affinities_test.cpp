#include "data/affinities.h"

#include <gmock/gmock.h>

#include <vector>

namespace tacho {
namespace {

using testing::ElementsAre;

std::vector<float> affinities(const std::vector<uint64_t>& labels, const Point& size) {
  std::vector<float> out(static_cast<size_t>(3 * voxels(size)), -1.0f);
  find_affinities(labels, size, out);
  return out;
}

TEST(Affinities, CompareWithTheVoxelBeforeAlongEveryAxis) {
  // Slice before the window, then the window's: its voxels are the lower right 1x2 of each.
  const std::vector<uint64_t> labels = {9, 9, 9, 9, 7, 4,  //
                                        9, 7, 5, 7, 7, 5};
  EXPECT_THAT(affinities(labels, {1, 1, 2}), ElementsAre(1, 0,    // z: 7 after 7, 5 after 4
                                                         1, 1,    // y: 7 below 7, 5 below 5
                                                         1, 0));  // x: 7 7 5
}

TEST(Affinities, OfNobodysVoxelsAreZero) {
  EXPECT_THAT(affinities(std::vector<uint64_t>(8, 0), {1, 1, 1}), ElementsAre(0, 0, 0));
}

TEST(Affinities, TellLargeLabelsApart) {
  std::vector<uint64_t> labels(8, 1ULL << 60);
  labels[3] += 1;  // before the last voxel along z
  EXPECT_THAT(affinities(labels, {1, 1, 1}), ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace tacho
