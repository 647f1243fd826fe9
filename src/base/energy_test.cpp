#include "base/energy.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/test_folder.h"

namespace tacho {
namespace {

class AnEnergyMeter : public testing::Test {
 protected:
  void show(const std::string& domain, const std::string& file, const std::string& text) {
    const auto folder = root_.path() / "sys/class/powercap" / domain;
    std::filesystem::create_directories(folder);
    write_file_atomically(folder / file, text);
  }
  void show(const std::string& domain, int64_t microjoules, const std::string& name = "package-0") {
    show(domain, "name", name + "\n");
    show(domain, "energy_uj", std::to_string(microjoules) + "\n");
    show(domain, "max_energy_range_uj", "1000000000\n");
  }

  TestFolder root_;
};

TEST_F(AnEnergyMeter, AddsUpThePackages) {
  show("intel-rapl:0", 5'000'000);
  show("intel-rapl:0:0", 1'000'000, "core");  // of that package
  show("intel-rapl:2", 1'000'000, "psys");    // all of them and more
  show("intel-rapl:1", 7'000'000);
  show("dtpm", 1, "dtpm");
  const EnergyMeter meter(root_.path());
  show("intel-rapl:0", 8'000'000);
  show("intel-rapl:0:0", 3'500'000, "core");
  show("intel-rapl:2", 9'000'000, "psys");
  show("intel-rapl:1", 7'500'000);
  EXPECT_EQ(meter.joules(), 3.5);
}

TEST_F(AnEnergyMeter, GoesOnWhereACounterStartsAgain) {
  show("intel-rapl:0", 999'000'000);
  const EnergyMeter meter(root_.path());
  show("intel-rapl:0", 2'000'000);
  EXPECT_EQ(meter.joules(), 3);
}

TEST_F(AnEnergyMeter, SaysNothingWhereTheKernelDoesNot) {
  EXPECT_EQ(EnergyMeter(root_.path()).joules(), std::nullopt);
  show("intel-rapl:0", "energy_uj", "");  // as it reads to whoever may not
  show("intel-rapl:0", "max_energy_range_uj", "1000");
  EXPECT_EQ(EnergyMeter(root_.path()).joules(), std::nullopt);
}

}  // namespace
}  // namespace tacho
