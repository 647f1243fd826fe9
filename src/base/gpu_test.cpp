#include "base/gpu.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(GpuDriver, DescribesWhatItTells) {
  const std::vector<GpuInfo> gpus = GpuDriver(TACHO_FAKE_GPU_DRIVER).gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "Fast 1");
  EXPECT_EQ(gpus[0].driver, "550.1");
  EXPECT_EQ(gpus[0].memory_mib, 16384);
  EXPECT_EQ(gpus[0].clock_mhz, 1980);
  EXPECT_EQ(gpus[0].power_limit_watts, 300);
  EXPECT_EQ(gpus[0].bus_id, "0000:65:00.0");
  EXPECT_EQ(gpus[0].clock_now_mhz, 1410);
  EXPECT_EQ(gpus[0].power_watts, 87.5);
  EXPECT_EQ(gpus[1].name, "Old 2");
  EXPECT_EQ(gpus[1].power_limit_watts, std::nullopt);
  EXPECT_EQ(gpus[1].power_watts, std::nullopt);
}

TEST(GpuDriver, CountsTheJoulesOfTheGpuOnABus) {
  const GpuDriver driver(TACHO_FAKE_GPU_DRIVER);
  const auto before = driver.joules("0000:65:00.0"), after = driver.joules("0000:65:00.0");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(*after - *before, 5);
  EXPECT_EQ(driver.joules("0000:b3:00.0"), std::nullopt);
  EXPECT_EQ(driver.joules("0000:00:00.0"), std::nullopt);
}

TEST(GpuDriver, FindsNothingWhereThereIsNone) {
  const GpuDriver driver("libnone.so.1");
  EXPECT_TRUE(driver.gpus().empty());
  EXPECT_EQ(driver.joules("0000:65:00.0"), std::nullopt);
}

}  // namespace
}  // namespace tacho
