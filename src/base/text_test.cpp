#include "base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace tacho {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kModels = {"resnet18"sv, "resnet50"sv, "vgg16"sv, "densenet121"sv, "unet3d"sv};

TEST(ParseNumber, TakesFiniteNumbersOnly) {
  EXPECT_EQ(parse_number("-1e-4"), -1e-4);
  for (const char* text : {"", "nan", "inf", "1e999", "1k", "1 "})
    EXPECT_EQ(parse_number(text), std::nullopt);
}

TEST(Nearest, FindsTheWordWithATypingMistake) {
  EXPECT_EQ(nearest("resnet5", kModels), "resnet50");
  EXPECT_EQ(nearest("rasnet18", kModels), "resnet18");
  EXPECT_EQ(nearest("vgg-16", kModels), "vgg16");
  EXPECT_EQ(nearest("dense121", kModels), "densenet121");
  EXPECT_EQ(nearest("densnet121", kModels), "densenet121");
}

TEST(Nearest, IgnoresCase) { EXPECT_EQ(nearest("ResNet18", kModels), "resnet18"); }

TEST(Nearest, CountsASwapOfNeighboursAsOneMistake) {
  constexpr std::array kWords = {"ab"sv};
  EXPECT_EQ(nearest("ba", kWords), "ab");
}

TEST(Nearest, PrefersTheFirstOfEquallyNearWords) {
  EXPECT_EQ(nearest("resnet", kModels), "resnet18");
  EXPECT_EQ(nearest("resnet10", kModels), "resnet18");
}

TEST(Nearest, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest("transformer", kModels), "");
  EXPECT_EQ(nearest("", kModels), "");
  EXPECT_EQ(nearest("resnet18", {}), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split(",", ','), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(split("one", ','), (std::vector<std::string>{"one"}));
}

TEST(Trim, TakesBlanksFromBothSidesOnly) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(ParseInteger, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const auto wrong : {"", " 1", "1 ", "1.5", "0x10", "max", "9223372036854775808"}) {
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << wrong;
  }
}

TEST(FormatBytes, ChoosesTheLargestUnitThatIsAtLeastOne) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1288490189), "1.2 GiB");
  EXPECT_EQ(format_bytes(-2048), "-2.0 KiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
}

TEST(FormatBytes, RoundsUpIntoTheNextUnit) { EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB"); }

TEST(FormatDuration, NamesTheTwoUnitsThatMatter) {
  EXPECT_EQ(format_duration_ms(0.35), "0.35 ms");
  EXPECT_EQ(format_duration_ms(12.34), "12.3 ms");
  EXPECT_EQ(format_duration_ms(350), "350 ms");
  EXPECT_EQ(format_duration_ms(4200), "4.2 s");
  EXPECT_EQ(format_duration_ms(80e3), "1m 20s");
  EXPECT_EQ(format_duration_ms(7500e3), "2h 05m");
  EXPECT_EQ(format_duration_ms(76 * 3600e3), "3d 04h");
}

TEST(FormatDuration, NeverPrintsSixtyOfAUnit) {
  EXPECT_EQ(format_duration_ms(999.9), "1.0 s");
  EXPECT_EQ(format_duration_ms(59'990), "1m 00s");
  EXPECT_EQ(format_duration_ms(119'900), "2m 00s");
  EXPECT_EQ(format_duration_ms(3'599'900), "1h 00m");
  EXPECT_EQ(format_duration_ms(24 * 3600e3 - 1), "1d 00h");
}

TEST(FormatDuration, SaysWhenThereIsNoFigure) {
  EXPECT_EQ(format_duration_ms(std::numeric_limits<double>::quiet_NaN()), "unknown");
  EXPECT_EQ(format_duration_ms(-80e3), "-1m 20s");
}

TEST(ParseQuantity, TakesThousandsByTheirLetter) {
  EXPECT_DOUBLE_EQ(parse_quantity("100k").value(), 100e3);
  EXPECT_DOUBLE_EQ(parse_quantity("8.1T").value(), 8.1e12);
  EXPECT_DOUBLE_EQ(parse_quantity("1.28M").value(), 1.28e6);
  EXPECT_DOUBLE_EQ(parse_quantity("50000").value(), 50e3);
  for (const char* text : {"", "k", "1K", "-3", "1kk", "nan", "inf", "1 k", "x"}) {
    EXPECT_FALSE(parse_quantity(text).has_value()) << text;
  }
}

TEST(ShellQuoted, QuotesOnlyWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_quoted("--batch=1,2"), "--batch=1,2");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(FormatThousands, GroupsDigitsByThree) {
  EXPECT_EQ(format_thousands(0), "0");
  EXPECT_EQ(format_thousands(999), "999");
  EXPECT_EQ(format_thousands(1000), "1,000");
  EXPECT_EQ(format_thousands(11689512), "11,689,512");
  EXPECT_EQ(format_thousands(-100), "-100");
  EXPECT_EQ(format_thousands(-123456), "-123,456");
}

}  // namespace
}  // namespace tacho
