#include "engine/native/plain_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "graph/dropout.h"

namespace tacho::native {
namespace {

constexpr int64_t kBatch = 3, kChannels = 21, kCells = 35;
constexpr double kProbability = 0.3;

// Calls visit(row-major index, index in dense blocks) of each element.
template<typename Visit>
void for_elements(int64_t lanes, const Visit& visit) {
  const int64_t blocks = (kChannels + lanes - 1) / lanes;
  for (int64_t i = 0; i < kBatch * kChannels * kCells; ++i) {
    const int64_t cell = i % kCells, channel = i / kCells % kChannels, image = i / kCells / kChannels;
    const int64_t block = image * blocks + channel / lanes;
    visit(static_cast<size_t>(i), static_cast<size_t>((block * kCells + cell) * lanes + channel % lanes));
  }
}

// In slices of wider tensors.
TEST(Dropout, KeepsTheSameElementsInEveryLayout) {
  const Random stream = dropout_stream(1, "drop", 2);
  const auto scale = static_cast<float>(1 / (1 - kProbability));
  for (const int64_t lanes : {1, 8, 16}) {
    const blocked::Sweep sweep = {kBatch, kChannels, kCells, lanes};
    const int64_t image = channel_blocks(sweep) * kCells * lanes;
    const int64_t from = image + 3 * lanes, to = image + lanes;
    const auto at = [&](size_t element, int64_t stride) {
      const auto i = static_cast<int64_t>(element);
      return static_cast<size_t>(i / image * stride + i % image);
    };
    std::vector<float> x(static_cast<size_t>(kBatch * from)), y(static_cast<size_t>(kBatch * to), 77), dx = y;
    for_elements(lanes, [&](size_t i, size_t j) { x[at(j, from)] = static_cast<float>(i + 1); });
    std::vector<uint8_t> mask(static_cast<size_t>(kBatch * image));
    dropout(sweep, stream, kProbability, {x.data(), from}, {y.data(), to}, mask.data());
    dropout_backward(sweep, kProbability, mask.data(), {x.data(), from}, {dx.data(), to});
    EXPECT_EQ(dx, y);
    std::vector<float> expected(y.size(), 0);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = static_cast<int64_t>(i) % to < image ? 0.0f : 77.0f;
    for_elements(lanes, [&](size_t i, size_t j) {
      if (dropout_keeps(stream, i, kProbability)) expected[at(j, to)] = scale * static_cast<float>(i + 1);
    });
    EXPECT_EQ(y, expected) << lanes;
  }
}

// As one channel of one image.
TEST(Dropout, TakesRowMajorTensorsOfAnySize) {
  const Random stream = dropout_stream(1, "drop", 2);
  const std::vector<float> x(5003, 1);
  std::vector<float> y(x.size(), 77);
  std::vector<uint8_t> mask(x.size());
  dropout({1, 1, 5003, 1}, stream, kProbability, {x.data(), 0}, {y.data(), 0}, mask.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool kept = dropout_keeps(stream, i, kProbability);
    ASSERT_EQ(mask[i], kept) << i;
    ASSERT_EQ(y[i] > 0, kept) << i;
  }
}

}  // namespace
}  // namespace tacho::native
