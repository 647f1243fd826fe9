#include "data/volume_window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "data/test_volume.h"

namespace tacho {
namespace {

struct Window {
  Point size;
  std::vector<float> raw, affinities;

  size_t index(int64_t z, int64_t y, int64_t x) const {
    return static_cast<size_t>((z * size[1] + y) * size[2] + x);
  }
  float at(int64_t z, int64_t y, int64_t x) const { return raw[index(z, y, x)]; }
  float affinity(size_t axis, int64_t z, int64_t y, int64_t x) const {
    return affinities[axis * raw.size() + index(z, y, x)];
  }
};

Window load(const LabelledVolume& volume, const Box& region, const Point& size, const VolumeView& view) {
  const auto count = static_cast<size_t>(voxels(size));
  Window window = {size, std::vector<float>(count), std::vector<float>(3 * count)};
  load_window(volume, region, size, view, window.raw, window.affinities);
  return window;
}

std::vector<VolumeView> orientations(const Point& begin) {
  std::vector<VolumeView> views;
  for (int i = 0; i < 16; ++i)
    views.push_back({begin, {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0}, (i & 8) != 0});
  return views;
}

TEST(VolumeWindow, ShowsThePartThatIsAskedFor) {
  const LabelledVolume volume = boxes_volume({8, 16, 20});
  const Window window = load(volume, whole(volume.shape()), {2, 3, 4}, {.begin = {2, 4, 5}});
  EXPECT_FLOAT_EQ(window.at(0, 0, 0), 20 * (1 + 0 + 0 + 5) / 255.f);
  EXPECT_FLOAT_EQ(window.at(1, 1, 0), 20 * (1 + 1 + 3 + 5) / 255.f);
  EXPECT_EQ(window.affinity(0, 0, 0, 0), 1);
  EXPECT_EQ(window.affinity(0, 1, 0, 0), 0);  // slice 3 begins another box
  EXPECT_EQ(window.affinity(1, 0, 0, 0), 1);
  EXPECT_EQ(window.affinity(1, 0, 1, 0), 0);
  EXPECT_EQ(window.affinity(2, 0, 0, 0), 0);  // the voxel before the window is in another box
  EXPECT_EQ(window.affinity(2, 0, 0, 1), 1);
}

TEST(VolumeWindow, KeepsImageAndAffinitiesTogetherInEveryOrientation) {
  const LabelledVolume volume = boxes_volume({12, 24, 24});
  std::set<std::vector<float>> different;
  for (const VolumeView& view : orientations({1, 2, 3})) {
    const Window window = load(volume, whole(volume.shape()), {7, 16, 16}, view);
    different.insert(window.raw);
    for (int64_t z = 1; z < 7; ++z) {
      for (int64_t y = 1; y < 16; ++y) {
        for (int64_t x = 1; x < 16; ++x) {
          const float here = window.at(z, y, x);
          ASSERT_EQ(window.affinity(0, z, y, x), here == window.at(z - 1, y, x) ? 1 : 0);
          ASSERT_EQ(window.affinity(1, z, y, x), here == window.at(z, y - 1, x) ? 1 : 0);
          ASSERT_EQ(window.affinity(2, z, y, x), here == window.at(z, y, x - 1) ? 1 : 0);
        }
      }
    }
  }
  EXPECT_EQ(different.size(), 16u);
}

// At its edges a window's affinities are those of a larger window around it, in every orientation.
TEST(VolumeWindow, HasNoEdge) {
  const LabelledVolume volume = boxes_volume({12, 24, 24});
  for (const VolumeView& view : orientations({3, 4, 5})) {
    VolumeView larger = view;
    for (int64_t& begin : larger.begin) --begin;
    const Window inner = load(volume, whole(volume.shape()), {6, 10, 10}, view);
    const Window outer = load(volume, whole(volume.shape()), {8, 12, 12}, larger);
    for (size_t axis = 0; axis < 3; ++axis)
      for (int64_t i = 0; i < 10; ++i)
        for (int64_t z = 0; z < 6; ++z) {
          ASSERT_EQ(inner.affinity(axis, z, 0, i), outer.affinity(axis, z + 1, 1, i + 1));
          ASSERT_EQ(inner.affinity(axis, z, i, 0), outer.affinity(axis, z + 1, i + 1, 1));
        }
  }
}

// The image says where along x a voxel comes from, the labels change every 8 voxels of it.
TEST(VolumeWindow, DeformsImageAndLabelsAlike) {
  const Point shape = {3, 80, 96};
  const LabelledVolume volume(
      test_volume<float>(shape, VoxelType::f32,
                         [](int64_t, int64_t, int64_t x) { return static_cast<float>(x); }),
      test_volume<uint16_t>(shape, VoxelType::u16,
                            [](int64_t, int64_t, int64_t x) { return static_cast<uint16_t>(1 + x / 8); }));
  const Window window =
      load(volume, whole(shape), {2, 40, 64}, {.begin = {1, 20, 16}, .elastic = Random(3).stream("a")});
  const auto clear = [](float place) { return std::abs(place - std::floor(place) - 0.5f) > 1e-3f; };
  int moved = 0, borders = 0;
  for (int64_t y = 0; y < 40; ++y) {
    for (int64_t x = 1; x < 64; ++x) {
      const float here = window.at(0, y, x), before = window.at(0, y, x - 1);
      moved += std::abs(here - static_cast<float>(16 + x)) > 1 ? 1 : 0;
      if (!clear(here) || !clear(before)) continue;
      const bool same = std::lround(here) / 8 == std::lround(before) / 8;
      borders += same ? 0 : 1;
      ASSERT_EQ(window.affinity(2, 0, y, x), same ? 1 : 0) << y << " " << x;
    }
  }
  EXPECT_GT(moved, 500);
  EXPECT_GT(borders, 200);
}

// Remembers what was read of it.
class Watched final : public Volume {
 public:
  Watched(std::unique_ptr<Volume> volume, std::vector<Box>& seen) : volume_(std::move(volume)), seen_(seen) {}
  const VolumeInfo& info() const override { return volume_->info(); }
  void read(const Box& box, std::span<std::byte> voxels) override {
    seen_.push_back(box);
    volume_->read(box, voxels);
  }

 private:
  std::unique_ptr<Volume> volume_;
  std::vector<Box>& seen_;
};

TEST(VolumeWindow, ReadsNothingOutsideItsRegion) {
  const Point shape = {12, 40, 40}, size = {4, 16, 16};
  const Box region = {{0, 0, 0}, {8, 40, 40}};
  std::vector<Box> seen;
  const auto zero = [](int64_t, int64_t, int64_t) { return uint8_t{0}; };
  const LabelledVolume volume(
      std::make_unique<Watched>(test_volume<uint8_t>(shape, VoxelType::u8, zero), seen),
      std::make_unique<Watched>(test_volume<uint8_t>(shape, VoxelType::u8, zero), seen));
  const VolumeAugmentation all = {.flip = true, .rotate = true, .elastic = true};
  for (uint64_t i = 0; i < 200; ++i) {
    const VolumeView view = draw_volume_view(all, region, size, Random(i));
    load(volume, region, size, view);
  }
  ASSERT_EQ(seen.size(), 400u);
  std::set<int64_t> slices;
  for (const Box& box : seen) {
    EXPECT_EQ(intersection(box, region), box);
    slices.insert(box.end[0]);
  }
  EXPECT_TRUE(slices.contains(8));  // up to its last slice
}

}  // namespace
}  // namespace tacho
