#include "results/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tacho {
namespace {

using ::testing::HasSubstr;

const std::vector<double> kSteady = {100, 101, 99, 100, 100};
const std::vector<double> kShaky = {100, 120, 80, 110, 90};

TEST(Verdict, SteadySamplesAreValidWithoutFurtherWords) {
  const Judgement judgement = judge_samples(kSteady, 2, 2);
  EXPECT_EQ(judgement.verdict, Verdict::valid);
  EXPECT_EQ(judgement.reason, "");
}

TEST(Verdict, AMadAboveFivePercentIsNoisy) {
  const Judgement judgement = judge_samples(kShaky, 2, 2);
  EXPECT_EQ(judgement.verdict, Verdict::noisy);
  EXPECT_EQ(judgement.reason, "MAD is 10.0 % of the median");
}

TEST(Verdict, AMadOfExactlyFivePercentIsNot) {
  EXPECT_EQ(judge_samples(std::vector<double>{100, 105, 95, 105, 95}, 1, 2).verdict, Verdict::valid);
}

TEST(Verdict, MoreThreadsThanCoresAreOversubscribed) {
  const Judgement judgement = judge_samples(kShaky, 3, 2);
  EXPECT_EQ(judgement.verdict, Verdict::oversubscribed);
  EXPECT_EQ(judgement.reason, "3 threads share 2 usable cores");
}

TEST(Verdict, FewSamplesAreValidButSaySo) {
  const Judgement judgement = judge_samples(std::vector{100.0}, 1, 2);
  EXPECT_EQ(judgement.verdict, Verdict::valid);
  EXPECT_THAT(judgement.reason, HasSubstr("only one pass"));
}

TEST(Verdict, PassesThatBecomeSlowerSaySo) {
  const Judgement judgement =
      judge_samples(std::vector<double>{100, 101, 100, 99, 100, 108, 109, 108, 107, 108}, 1, 2);
  EXPECT_EQ(judgement.verdict, Verdict::valid);
  EXPECT_THAT(judgement.reason, HasSubstr("8.0 % slower"));
}

TEST(Verdict, PassesTooShortForTheClockAreNotNoisy) {
  EXPECT_EQ(judge_samples(std::vector<double>(5, 0.0), 1, 2).verdict, Verdict::valid);
}

}  // namespace
}  // namespace tacho
