#include "data/transform.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"

namespace tacho {
namespace {

ImageSet counting_image(int64_t height, int64_t width) {
  ImageSet set = {Tensor({1, 1, height, width}, DType::f32), {0}};
  std::iota(set.images.values<float>().begin(), set.images.values<float>().end(), 1.0f);
  return set;
}

std::vector<float> transformed(const ImageSet& set, const View2d& view, const Extents& output) {
  const Transform transform(set, {}, output);
  std::vector<float> pixels(static_cast<size_t>(transform.floats_per_image()));
  transform.run(0, view, pixels);
  return pixels;
}

TEST(Transform, LeavesFloatsAsTheyAre) {
  EXPECT_EQ(transformed(counting_image(2, 2), {}, {2, 2}), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Transform, CutsOutBeyondTheEdge) {
  const ImageSet set = counting_image(2, 3);
  EXPECT_EQ(transformed(set, {.top = 1, .left = -1}, {2, 3}), (std::vector<float>{0, 4, 5, 0, 0, 0}));
  EXPECT_EQ(transformed(set, {.top = -1, .left = 2}, {2, 3}), (std::vector<float>{0, 0, 0, 3, 0, 0}));
}

TEST(Transform, MirrorsWhatItCutOut) {
  EXPECT_EQ(transformed(counting_image(1, 3), {.left = 1, .mirrored = true}, {1, 3}),
            (std::vector<float>{0, 3, 2}));
}

TEST(Transform, ResizesAsPyTorchDoes) {
  // torch.nn.functional.interpolate(torch.tensor([[[[1., 2.], [3., 4.]]]]), size=(2, 4), mode="bilinear")
  EXPECT_EQ(transformed(counting_image(2, 2), {}, {2, 4}),
            (std::vector<float>{1, 1.25f, 1.75f, 2, 3, 3.25f, 3.75f, 4}));
}

TEST(Transform, NormalisesBytes) {
  ImageSet set = {Tensor({1, 2, 1, 1}, DType::u8), {0}};
  set.images.values<uint8_t>()[0] = 255;
  const Transform transform(set, {{0.5f, 0.25f}, {0.25f, 0.5f}}, {1, 1});
  std::vector<float> pixels(2);
  transform.run(0, {}, pixels);
  EXPECT_FLOAT_EQ(pixels[0], 2.0f);
  EXPECT_FLOAT_EQ(pixels[1], -0.5f);
}

TEST(Augmentation, DrawsEveryPlaceAndBothSides) {
  std::vector<int> tops(9), mirrored(2);
  for (uint64_t i = 0; i < 500; ++i) {
    const View2d view = draw_view(parse_augmentation("crop,flip"), {32, 32}, Random(1).stream(i));
    ASSERT_LE(std::abs(view.top), 4);
    ASSERT_LE(std::abs(view.left), 4);
    ++tops[static_cast<size_t>(view.top + 4)];
    ++mirrored[view.mirrored ? 1 : 0];
  }
  for (const int count : tops) EXPECT_GT(count, 20);
  for (const int count : mirrored) EXPECT_GT(count, 200);
}

TEST(Augmentation, NoneChangesNothing) {
  const View2d view = draw_view(parse_augmentation("none"), {32, 32}, Random(1));
  EXPECT_EQ(view.top, 0);
  EXPECT_EQ(view.left, 0);
  EXPECT_FALSE(view.mirrored);
  EXPECT_THROW(parse_augmentation("rotate"), UserError);
}

}  // namespace
}  // namespace tacho
