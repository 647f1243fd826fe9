#include "distributed/together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

using ::testing::ThrowsMessage;

TEST(Together, ThrowsOnAllRanksWhatOneThrew) {
  on_thread_ranks(3, [](Communicator& all) {
    const auto step = [&] {
      if (all.rank() == 1) throw UserError("no such file");
      if (all.rank() == 2) throw OutOfMemory("too large");
    };
    EXPECT_THAT([&] { together(all, step); }, ThrowsMessage<UserError>("rank 1: no such file"));
    EXPECT_THAT(
        [&] {
          together(all, [&] {
            if (all.rank() == 0) throw OutOfMemory("too large");
          });
        },
        ThrowsMessage<OutOfMemory>("too large"));
  });
}

TEST(InStep, LetsThroughWhatAllRanksKnowOf) {
  on_thread_ranks(2, [](Communicator& all) {
    const auto fail_on_one = [&] {
      together(all, [&] {
        if (all.rank() == 1) throw UserError("no such file");
      });
    };
    EXPECT_THAT([&] { in_step(all, fail_on_one); }, ThrowsMessage<UserError>("rank 1: no such file"));
  });
}

TEST(InStep, MakesNoUsersMistakeOfWhatOthersDoNotKnow) {
  on_thread_ranks(2, [](Communicator& all) {
    if (all.rank() == 0) return in_step(all, [] {});
    for (const std::function<void()>& fail :
         {std::function<void()>([] { throw UserError("disk full"); }),
          std::function<void()>([] { throw OutOfMemory("disk full"); })}) {
      try {
        in_step(all, fail);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const UserError&) {
        ADD_FAILURE() << "a user's mistake";
      } catch (const OutOfMemory&) {
        ADD_FAILURE() << "out of memory";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "disk full");
      }
    }
  });
}

TEST(InStep, LeavesErrorsOfOneProcessAsTheyAre) {
  EXPECT_THROW(in_step(*alone(), [] { throw UserError("no such file"); }), UserError);
}

}  // namespace
}  // namespace tacho
