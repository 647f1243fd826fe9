#include "kernels/blocked/sum_channels.h"

#include <gtest/gtest.h>

namespace tacho::blocked::TACHO_ISA {
namespace {

TEST(TACHO_ISA, ChannelSumsOfAVolumeOfFewChannelsHaveWorkFor64Threads) {
  const ActivationLayout layout(kLanes + 4, {64, 100, 100}, 0, kLanes);
  EXPECT_LE(64 * largest_share(sum_channels_loop(layout, 1), 64), 1.2);
}

}  // namespace
}  // namespace tacho::blocked::TACHO_ISA
