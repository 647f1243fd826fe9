#include "data/loader.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

// Batches that hold their own number; the fifth cannot be made, if so asked.
class Numbers final : public BatchSource {
 public:
  explicit Numbers(int64_t broken = -1) : broken_(broken) {}
  Batch make(int64_t) const override { return {Tensor({1}, DType::f32), Tensor({1}, DType::i64)}; }
  void fill(int64_t number, Batch& batch) const override {
    if (number == broken_) throw UserError("the disk is gone");
    batch.targets.values<int64_t>()[0] = number;
  }

 private:
  int64_t broken_;
};

int64_t next_of(Loader& loader) { return loader.next().targets.values<int64_t>()[0]; }

TEST(Loader, DeliversInOrderWithAnyNumberOfThreads) {
  for (const int threads : {1, 4}) {
    Loader loader(std::make_unique<Numbers>(), {.threads = threads, .first_batch = 7});
    for (int64_t i = 7; i < 100; ++i) ASSERT_EQ(next_of(loader), i);
  }
}

TEST(Loader, ThrowsWhatAThreadThrew) {
  Loader loader(std::make_unique<Numbers>(3), {.threads = 2, .prefetch = 2});
  EXPECT_THROW(for (int i = 0; i < 4; ++i) loader.next(), UserError);
}

TEST(Loader, HasABatchForEveryThreadAndOneMore) {
  EXPECT_EQ((LoaderOptions{.threads = 1}).batches_ahead(), 4);
  EXPECT_EQ((LoaderOptions{.threads = 9}).batches_ahead(), 10);
}

}  // namespace
}  // namespace tacho
