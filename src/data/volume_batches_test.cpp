#include "data/volume_batches.h"

#include <gmock/gmock.h>

#include "data/loader.h"
#include "data/test_volume.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr Point kWindow = {4, 16, 16};
constexpr VolumeAugmentation kAll = {.flip = true, .rotate = true, .elastic = true};

std::unique_ptr<VolumeBatches> batches(const LabelledVolume& volume, const BatchShare& share) {
  const Box region = split_volume(volume.shape(), kWindow).train;
  return std::make_unique<VolumeBatches>(volume, region, kWindow, share,
                                         random_windows(region, kWindow, kAll, 7));
}

std::vector<float> values_of(const Batch& batch) {
  const auto images = batch.images.values<float>(), targets = batch.targets.values<float>();
  std::vector<float> values(images.begin(), images.end());
  values.insert(values.end(), targets.begin(), targets.end());
  return values;
}

TEST(VolumeBatches, AreTheSameWithAnyNumberOfThreads) {
  const LabelledVolume volume = boxes_volume({12, 24, 24});
  Loader one(batches(volume, {.batch = 2}), {.threads = 1}),
      four(batches(volume, {.batch = 2}), {.threads = 4});
  for (int i = 0; i < 20; ++i) ASSERT_EQ(values_of(one.next()), values_of(four.next()));
}

TEST(VolumeBatches, OfAllRanksAreThoseOfOneAndBeginAnywhere) {
  const LabelledVolume volume = boxes_volume({12, 24, 24});
  Loader whole_stream(batches(volume, {.batch = 2}), {});
  Loader first(batches(volume, {.batch = 1, .rank = 0, .ranks = 2}), {.first_batch = 3});
  Loader second(batches(volume, {.batch = 1, .rank = 1, .ranks = 2}), {.first_batch = 3});
  for (int i = 0; i < 3; ++i) whole_stream.next();
  const auto images = [](const Batch& batch) { return batch.images.values<float>(); };
  const auto both = images(whole_stream.next());
  const size_t half = both.size() / 2;
  EXPECT_TRUE(std::ranges::equal(both.first(half), images(first.next())));
  EXPECT_TRUE(std::ranges::equal(both.last(half), images(second.next())));
}

TEST(VolumeSplit, HoldsOutAFifthButAtLeastAWindow) {
  EXPECT_EQ(split_volume({100, 8, 8}, {4, 8, 8}).held_out, (Box{{80, 0, 0}, {100, 8, 8}}));
  EXPECT_EQ(split_volume({100, 8, 8}, {40, 8, 8}).train, (Box{{0, 0, 0}, {60, 8, 8}}));
}

TEST(Tiles, CoverARegionAndAreNeverTooMany) {
  const Box region = {{8, 0, 0}, {12, 8, 20}};
  EXPECT_THAT(tiles(region, {4, 8, 8}, 100), ElementsAre(Point{8, 0, 0}, Point{8, 0, 6}, Point{8, 0, 12}));
  EXPECT_THAT(tiles(region, {4, 8, 8}, 2), ElementsAre(Point{8, 0, 0}, Point{8, 0, 6}));
}

}  // namespace
}  // namespace tacho
