#include "base/network_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

TEST(NetworkSpeed, IsABandwidthAndALatency) {
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "10Gbit,25us").bytes_per_s, 1.25e9);
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "10Gbit,25us").latency_s, 25e-6);
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "800Mbit,0.1ms").bytes_per_s, 1e8);
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "800Mbit,0.1ms").latency_s, 1e-4);
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "1.2GB/s,3us").bytes_per_s, 1.2e9);
  EXPECT_DOUBLE_EQ(parse_network_speed("--network", "500MB/s,0us").bytes_per_s, 5e8);
}

TEST(NetworkSpeed, RefusesWhatIsNotThatAndNamesTheOption) {
  for (const char* text :
       {"", "10Gbit", "25us,10Gbit", "10,25", "10Gbit,25us,3", "fastGbit,25us", "0Gbit,25us", "-1Gbit,25us",
        "10Gbit,-1us", "10Gbit,25", "infGbit,1us", "10Gb,25us"}) {
    try {
      parse_network_speed("--node-network", text);
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("--node-network '" + std::string(text) + "': "));
    }
  }
}

TEST(NetworkSpeed, IsPrintedAsItIsTyped) {
  for (const char* text : {"10Gbit,25us", "800Mbit,1.5ms", "9.6Gbit,3us", "100Gbit,0us"}) {
    EXPECT_EQ(to_string(parse_network_speed("--network", text)), text);
  }
}

}  // namespace
}  // namespace tacho
