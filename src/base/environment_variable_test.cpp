#include "base/environment_variable.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr const char* kName = "TACHO_ENVIRONMENT_VARIABLE_TEST";

TEST(EnvironmentVariable, IsGoneAfterwardsIfItWasNotThere) {
  unsetenv(kName);
  {
    const EnvironmentVariable variable(kName, "");
    EXPECT_STREQ(std::getenv(kName), "");
  }
  EXPECT_EQ(std::getenv(kName), nullptr);
}

TEST(EnvironmentVariable, HasItsFormerValueAfterwards) {
  const EnvironmentVariable outer(kName, "before");
  {
    const EnvironmentVariable inner(kName, "now");
    EXPECT_STREQ(std::getenv(kName), "now");
  }
  EXPECT_STREQ(std::getenv(kName), "before");
}

}  // namespace
}  // namespace tacho
