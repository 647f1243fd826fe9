#include "bench/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CpuInfo cpu(std::string governor, bool smt) {
  CpuInfo info;
  info.governor = std::move(governor);
  info.smt = smt;
  return info;
}

TEST(Machine, AQuietMachineHasNoWarnings) {
  EXPECT_THAT(noise_warnings(cpu("performance", false), {.steal_percent = 0.5, .busy_percent = 5}),
              IsEmpty());
  EXPECT_THAT(noise_warnings(cpu("", false), {}), IsEmpty());
}

TEST(Machine, EverySourceOfNoiseIsNamed) {
  const auto warnings = noise_warnings(cpu("powersave", true),
                                       {.load_average_1min = 3, .steal_percent = 7, .busy_percent = 40});
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("powersave"), HasSubstr("SMT"), HasSubstr("40 %"), HasSubstr("7 %")));
}

}  // namespace
}  // namespace tacho
