#include "engine/native/homes.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/gradient.h"

namespace tacho::native {
namespace {

constexpr int64_t kBlock = 8;

ConvolutionOptions to(int64_t channels) { return {.channels = channels, .kernel = {1, 1}, .bias = false}; }

TEST(Homes, PartsOfNestedConcatenationsLiveInTheOutermost) {
  Builder b("dense block");
  const ValueId x = b.convolution("stem", b.input("input", {1, 3, 4, 4}), to(16));
  const ValueId first = b.convolution("first", x, to(8));
  const ValueId inner = b.concat("inner", {x, first});
  const ValueId second = b.convolution("second", inner, to(24));
  const ValueId outer = b.concat("outer", {inner, second});
  const Homes homes = find_homes(lower(b.finish(b.relu("relu", outer))), kBlock);

  EXPECT_EQ(homes.joined, (std::set{inner, outer}));
  const auto channel_in_outer = [&](ValueId id) {
    EXPECT_EQ(homes.of.at(id).whole, outer);
    return homes.of.at(id).channel;
  };
  EXPECT_EQ(channel_in_outer(x), 0);
  EXPECT_EQ(channel_in_outer(first), 16);
  EXPECT_EQ(channel_in_outer(inner), 0);
  EXPECT_EQ(channel_in_outer(second), 24);
  EXPECT_FALSE(homes.of.contains(outer));
}

TEST(Homes, NeedWholeBlocksOfChannels) {
  Builder b("odd");
  const ValueId x = b.input("input", {1, 3, 4, 4});
  const ValueId joined = b.concat("concat", {b.convolution("a", x, to(8)), b.convolution("b", x, to(12))});
  const Homes homes = find_homes(lower(b.finish(joined)), kBlock);
  EXPECT_TRUE(homes.joined.empty());
  EXPECT_TRUE(homes.of.empty());
}

TEST(Homes, AreForComputedValuesAndOnePlaceOnly) {
  Builder b("twice");
  const ValueId input = b.input("input", {1, 8, 4, 4});
  const ValueId y = b.convolution("conv", input, to(8));
  const ValueId joined = b.concat("concat", {input, y, y});
  const Homes homes = find_homes(lower(b.finish(joined)), kBlock);
  EXPECT_FALSE(homes.of.contains(input));
  EXPECT_EQ(homes.of.at(y).channel, 8);
}

// A part would keep all of a concatenation alive that the backward pass does not read.
TEST(Homes, InTrainingAreForWhatTheBackwardPassReads) {
  const auto joins = [](bool read) {
    Builder b("two");
    const ValueId x = b.input("input", {1, 3, 4, 4});
    ValueId y = b.concat("concat", {b.convolution("a", x, to(8)), b.convolution("b", x, to(8))});
    y = read ? b.convolution("reader", y, to(8)) : b.relu("relu", y);
    return !find_homes(lower(gradient(b.finish(y), Loss::dice)), kBlock).joined.empty();
  };
  EXPECT_TRUE(joins(true));
  EXPECT_FALSE(joins(false));
}

}  // namespace
}  // namespace tacho::native
