#include "base/base64.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

std::string encoded(std::string_view text) {
  return to_base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe\xfd"), "//79");
}

TEST(Base64, IsKnownByItsLengthAndDigits) {
  EXPECT_TRUE(is_base64_of("", 0));
  EXPECT_TRUE(is_base64_of("Zg==", 1));
  EXPECT_TRUE(is_base64_of("Zm8=", 2));
  EXPECT_FALSE(is_base64_of("Zm8=", 1));
  EXPECT_FALSE(is_base64_of("Zm9v", 4));
  EXPECT_FALSE(is_base64_of("Zm-v", 3));
  EXPECT_FALSE(is_base64_of("Z===", 1));
}

}  // namespace
}  // namespace tacho
