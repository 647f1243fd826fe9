#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/source.h"

namespace tacho {
namespace {

DataSet images(int64_t count) {
  return open_data("synthetic", {.images = count, .image = {8, 8}, .seed = 3});
}

LoaderOptions shuffled(int64_t batch, int threads) {
  return {.batch = batch,
          .image = {8, 8},
          .augmentation = {.crop = true, .flip = true},
          .shuffle_seed = 5,
          .augmentation_seed = 5,
          .threads = threads,
          .prefetch = 3};
}

std::vector<float> pixels_of(const Batch& batch) {
  const auto values = batch.images.values<float>();
  return {values.begin(), values.end()};
}

TEST(Loader, ShowsEveryImageOncePerEpochAlsoWhereBatchesDoNotDivideIt) {
  const DataSet data = images(50);
  Loader loader(data.train, data.normalization, shuffled(8, 3));
  std::vector<int64_t> stream;
  while (stream.size() < 150) {
    const Batch& batch = loader.next();
    for (size_t i = 0; i < 8; ++i) {
      stream.push_back(batch.indices[i]);
      EXPECT_EQ(batch.labels.values<int64_t>()[i], data.train.labels[static_cast<size_t>(batch.indices[i])]);
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

TEST(Loader, DeliversTheSameWithAnyNumberOfThreads) {
  const DataSet data = images(20);
  Loader one(data.train, data.normalization, shuffled(6, 1)),
      four(data.train, data.normalization, shuffled(6, 4));
  for (int i = 0; i < 20; ++i) {
    const Batch& batch = one.next();
    const Batch& other = four.next();
    ASSERT_EQ(batch.indices, other.indices);
    ASSERT_EQ(pixels_of(batch), pixels_of(other));
  }
}

TEST(Loader, BeginsAnywhereInTheStream) {
  const DataSet data = images(20);
  Loader whole(data.train, data.normalization, shuffled(6, 2));
  LoaderOptions later = shuffled(6, 2);
  later.first_batch = 5;
  Loader rest(data.train, data.normalization, later);
  for (int i = 0; i < 5; ++i) whole.next();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(pixels_of(whole.next()), pixels_of(rest.next()));
}

TEST(Loader, HasABatchForEveryThreadAndOneMore) {
  EXPECT_EQ((LoaderOptions{.threads = 1}).batches_ahead(), 4);
  EXPECT_EQ((LoaderOptions{.threads = 9}).batches_ahead(), 10);
}

TEST(Loader, RefusesBatchesThatDoNotFit) {
  const DataSet data = images(5);
  EXPECT_THROW(Loader(data.train, data.normalization, {.batch = 1'000'000'000, .image = {65536, 65536}}),
               OutOfMemory);
}

TEST(Loader, GivesFileOrderWithoutShuffling) {
  const DataSet data = images(5);
  Loader loader(data.train, data.normalization, {.batch = 3, .image = {8, 8}});
  EXPECT_EQ(loader.next().indices, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(loader.next().indices, (std::vector<int64_t>{3, 4, 0}));
}

}  // namespace
}  // namespace tacho
