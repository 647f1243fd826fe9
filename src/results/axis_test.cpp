#include "results/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> parse(std::string_view text) { return parse_axis("--batch", text, 1'000'000); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Axis, ReadsAList) { EXPECT_THAT(parse("16,32,64"), ElementsAre(16, 32, 64)); }

TEST(Axis, ReadsARangeInStepsOfOne) { EXPECT_THAT(parse("1-4"), ElementsAre(1, 2, 3, 4)); }

TEST(Axis, MultipliesUpToAndIncludingTheEnd) {
  EXPECT_THAT(parse("16-128*2"), ElementsAre(16, 32, 64, 128));
  EXPECT_THAT(parse("16-127*2"), ElementsAre(16, 32, 64));
}

TEST(Axis, AddsUpToAndIncludingTheEnd) { EXPECT_THAT(parse("16-64+16"), ElementsAre(16, 32, 48, 64)); }

TEST(Axis, MixesNumbersAndRanges) { EXPECT_THAT(parse("1,4-8*2,3"), ElementsAre(1, 4, 8, 3)); }

TEST(Axis, ARangeOfOneValueIsThatValue) { EXPECT_THAT(parse("8-8"), ElementsAre(8)); }

TEST(Axis, RefusesWhatIsEmpty) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("16,,32"), HasSubstr("empty"));
  EXPECT_THAT(error_of("16,"), HasSubstr("empty"));
}

TEST(Axis, RefusesAReversedRangeAndSaysTheRightOne) {
  EXPECT_EQ(error_of("64-16"), "--batch '64-16': the range is reversed; write 16-64");
}

TEST(Axis, RefusesZeroAndNegativeNumbers) {
  EXPECT_THAT(error_of("0"), HasSubstr("at least 1"));
  EXPECT_THAT(error_of("0-4"), HasSubstr("at least 1"));
  EXPECT_THAT(error_of("1-4+0"), HasSubstr("at least 1"));
  EXPECT_THAT(error_of("-3"), HasSubstr("at least 1"));
}

TEST(Axis, RefusesWhatIsNotANumber) {
  for (std::string_view text : {"many", "16x", "1-", "1-b", "1.5", "1-8*", "1-8*2*2", "1 ", "0x10"}) {
    EXPECT_THAT(error_of(text), HasSubstr("whole number")) << text;
  }
}

TEST(Axis, RefusesAStepThatNeverEnds) { EXPECT_THAT(error_of("1-8*1"), HasSubstr("never ends")); }

TEST(Axis, RefusesTooLargeValues) {
  EXPECT_THAT(error_of("1000001"), HasSubstr("at most 1000000"));
  EXPECT_THAT(error_of("99999999999999999999999"), HasSubstr("at most 1000000"));
}

TEST(Axis, RefusesTooManyValues) { EXPECT_THAT(error_of("1-1000000"), HasSubstr("more than 10000 values")); }

TEST(ImageAxis, ReadsSidesExtentsAndRanges) {
  EXPECT_THAT(parse_image_axis("--image", "224,224x160,40x216x216,32-64*2"),
              ElementsAre(Extents{224}, Extents{224, 160}, Extents{40, 216, 216}, Extents{32}, Extents{64}));
}

TEST(ImageAxis, RefusesAMissingSide) {
  EXPECT_THROW(parse_image_axis("--image", "224x"), UserError);
  EXPECT_THROW(parse_image_axis("--image", "x224"), UserError);
  EXPECT_THROW(parse_image_axis("--image", "224x0"), UserError);
}

TEST(Image, IsOneSize) {
  EXPECT_EQ(parse_image("--image", "224x160"), (Extents{224, 160}));
  for (const char* several : {"32,64", "32-64*2"}) {
    EXPECT_THAT([&] { parse_image("--image", several); },
                ::testing::ThrowsMessage<UserError>(HasSubstr("one size")))
        << several;
  }
}

TEST(Choices, AreTheGivenOnesOnly) {
  EXPECT_THAT(parse_choices("--mode", "train,infer", {"infer", "train"}), ElementsAre("train", "infer"));
  EXPECT_THAT(
      [] {
        parse_choices("--mode", "evaluate", {"infer", "train"});
      },
      ::testing::ThrowsMessage<UserError>("--mode 'evaluate': unknown; there are infer, train"));
}

}  // namespace
}  // namespace tacho
