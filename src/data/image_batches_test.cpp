#include "data/image_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/loader.h"
#include "data/source.h"

namespace tacho {
namespace {

DataSet images(int64_t count) {
  return open_data("synthetic", {.images = count, .image = {8, 8}, .seed = 3});
}

ImageBatchOptions shuffled(BatchShare share) {
  return {.share = share,
          .image = {8, 8},
          .augmentation = {.crop = true, .flip = true},
          .shuffle_seed = 5,
          .augmentation_seed = 5};
}

std::unique_ptr<BatchSource> batches(const DataSet& data, ImageBatchOptions options) {
  return std::make_unique<ImageBatches>(data.train, data.normalization, std::move(options));
}

std::vector<float> pixels_of(const Batch& batch) {
  const auto values = batch.images.values<float>();
  return {values.begin(), values.end()};
}

TEST(ImageBatches, ShowEveryImageOncePerEpochAlsoWhereBatchesDoNotDivideIt) {
  const DataSet data = images(50);
  Loader loader(batches(data, shuffled({.batch = 8})), {.threads = 3});
  std::vector<int64_t> stream;
  while (stream.size() < 150) {
    const Batch& batch = loader.next();
    for (size_t i = 0; i < 8; ++i) {
      stream.push_back(batch.indices[i]);
      EXPECT_EQ(batch.targets.values<int64_t>()[i], data.train.labels[static_cast<size_t>(batch.indices[i])]);
    }
  }
  std::vector<int64_t> every(50);
  std::iota(every.begin(), every.end(), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> seen(stream.begin() + epoch * 50, stream.begin() + (epoch + 1) * 50);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, every) << "epoch " << epoch;
  }
}

TEST(ImageBatches, AreTheSameWithAnyNumberOfThreads) {
  const DataSet data = images(20);
  Loader one(batches(data, shuffled({.batch = 6})), {.threads = 1}),
      four(batches(data, shuffled({.batch = 6})), {.threads = 4});
  for (int i = 0; i < 20; ++i) {
    const Batch& batch = one.next();
    const Batch& other = four.next();
    ASSERT_EQ(batch.indices, other.indices);
    ASSERT_EQ(pixels_of(batch), pixels_of(other));
  }
}

TEST(ImageBatches, OfAllRanksAreThoseOfOne) {
  const DataSet data = images(20);
  const auto one = batches(data, shuffled({.batch = 6}));
  for (int rank = 0; rank < 3; ++rank) {
    const auto own = batches(data, shuffled({.batch = 6, .rank = rank, .ranks = 3}));
    Batch expected = one->make(1), batch = own->make(1);
    one->fill(6 + rank, expected);
    own->fill(2, batch);
    EXPECT_EQ(batch.indices, expected.indices);
    EXPECT_EQ(pixels_of(batch), pixels_of(expected));
  }
}

TEST(ImageBatches, RefuseWhatDoesNotFit) {
  const DataSet data = images(5);
  EXPECT_THROW(batches(data, {.share = {.batch = 1'000'000'000}, .image = {65536, 65536}})->make(1),
               OutOfMemory);
}

TEST(ImageBatches, AreInFileOrderWithoutShuffling) {
  const DataSet data = images(9);
  Loader loader(batches(data, {.share = {.batch = 3}, .subset = 5, .image = {8, 8}}), {});
  EXPECT_EQ(loader.next().indices, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(loader.next().indices, (std::vector<int64_t>{3, 4, 0}));
}

}  // namespace
}  // namespace tacho
