#include "predict/blocks_left.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/test_folder.h"
#include "distributed/thread_ranks.h"
#include "predict/chunks.h"
#include "predict/journal.h"

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr Tiling kTiling = {{2, 2, 10}, {2, 2, 2}};

// An output of five blocks, of which the first was never computed.
class LeftOfFive : public testing::Test {
 protected:
  LeftOfFive()
      : output_(ZarrOutput::create(folder_.path(), {.shape = kTiling.volume, .chunk = kTiling.block})) {
    std::filesystem::create_directories(journal_folder(folder_.path()));
    for (const int rank : {0, 1}) {
      Journal journal(folder_.path(), rank);
      for (int64_t number = 1 + rank; number < kTiling.count(); number += 2)
        journal.note(number, write_block(output_, kTiling.box(number), std::vector<float>(8, 0.5F)));
    }
  }

  std::filesystem::path chunk(int64_t number) const {
    return folder_.path() / "0/0/0/0" / std::to_string(number);
  }

  std::optional<std::vector<int64_t>> left(Communicator& ranks, const CheckHooks& hooks = {}) const {
    return blocks_left(ranks, folder_.path(), output_, kTiling, hooks);
  }

  TestFolder folder_;
  ZarrOutput output_;
};

TEST_F(LeftOfFive, AreThoseWithoutANoteOrWithoutTheirChunks) {
  std::filesystem::remove(chunk(3));
  std::filesystem::resize_file(chunk(4), 5);
  for (const int ranks : {1, 2, 4}) {
    on_thread_ranks(ranks, [&](Communicator& own) {
      EXPECT_THAT(left(own).value(), ElementsAre(0, 3, 4)) << "rank " << own.rank() << " of " << ranks;
    });
  }
}

TEST_F(LeftOfFive, AreNotThoseOfAnotherTiling) {
  Journal(folder_.path(), 0).note(5, {});
  Journal(folder_.path(), 0).note(-1, {});
  EXPECT_THAT(left(*alone()).value(), ElementsAre(0));
}

TEST_F(LeftOfFive, AreCheckedOnceAndToldAsTheyAre) {
  std::vector<int64_t> told;
  left(*alone(), {.on_block = [&](int64_t checked, int64_t all) {
    told.push_back(checked);
    EXPECT_EQ(all, 4);
  }});
  EXPECT_THAT(told, ElementsAre(1, 2, 3, 4));
}

TEST_F(LeftOfFive, AreUnknownToAllWhereOneRankMustStop) {
  on_thread_ranks(3, [&](Communicator& ranks) {
    EXPECT_FALSE(left(ranks, {.should_stop = [&] { return ranks.rank() == 1; }}));
  });
}

TEST_F(LeftOfFive, AreNotCheckedFurtherAfterAStop) {
  int64_t told = 0;
  const CheckHooks hooks = {.on_block = [&](int64_t checked, int64_t) { told = checked; },
                            .should_stop = [&] { return told == 2; }};
  EXPECT_FALSE(left(*alone(), hooks));
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace tacho
