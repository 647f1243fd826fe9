#include "results/format.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Format, KeepsSignificantDigitsWithoutPowersOfTen) {
  EXPECT_EQ(format_significant(12345.6, 3), "12346");
  EXPECT_EQ(format_significant(123.4, 3), "123");
  EXPECT_EQ(format_significant(1.2345, 3), "1.23");
  EXPECT_EQ(format_significant(0.00012345, 3), "0.000123");
  EXPECT_EQ(format_significant(0, 3), "0");
}

TEST(Format, DeviationEndsAtTheValuesLastDigit) {
  EXPECT_EQ(format_with_deviation(45.234, 0.3149, 4), "45.23 ± 0.31");
  EXPECT_EQ(format_with_deviation(0.000045, 0.000001, 4), "0.00004500 ± 0.00000100");
}

}  // namespace
}  // namespace tacho
