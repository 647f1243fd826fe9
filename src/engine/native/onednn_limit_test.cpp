#include "engine/native/onednn_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "engine/native/assembler.h"
#include "engine/native/kernel_choice.h"
#include "graph/builder.h"
#include "kernels/blocked/blocked.h"
#include "models/initialize.h"

namespace tacho::native {
namespace {

// 2.1e9 voxels of one channel each, just above the limit. Nothing is allocated: plans are only assembled.
const Shape kVolume = {1, 1, 1291, 1291, 1291};
const Shape kManyChannels = {1, 16, 512, 512, 513};

Graph graph_of(const Shape& input, const std::function<ValueId(Builder&, ValueId)>& layers) {
  Builder b("large");
  const ValueId x = b.input("input", input);
  return b.finish(layers(b, x));
}

void assemble(const Graph& graph) {
  KernelCache cache{{}};
  const Program program = lower(graph);
  const Weights weights = initialize(graph, 0);
  Assembler(program, weights, {}, choose_kernels(program, {}, cache)).assemble();
}

void expect_refused(const Graph& graph, const std::string& beginning, const std::string& elements) {
  try {
    assemble(graph);
    FAIL() << "was assembled";
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with(beginning)) << text;
    EXPECT_NE(text.find(elements + " elements"), std::string::npos) << text;
  }
}

TEST(OnednnLimit, RefusesALargerStepByTheNameOfItsLayer) {
  expect_refused(graph_of(kVolume, [](Builder& b, ValueId x) { return b.sigmoid("last.squash", x); }),
                 "last.squash: oneDNN's ", "2151685171");
  expect_refused(graph_of(kManyChannels,
                          [](Builder& b, ValueId x) {
                            return b.convolution("first.conv", x,
                                                 {.channels = 8, .kernel = {3, 3, 3}, .dilation = {2, 2, 2}});
                          }),
                 "first.conv: oneDNN's ", "2151677952");
}

TEST(OnednnLimit, LetsStepsOfOursBeLarger) {
  const auto pool = [](Builder& b, ValueId x) { return b.max_pool("pool", x, {.kernel = {2, 2, 2}}); };
  EXPECT_NO_THROW(assemble(graph_of(kVolume, pool)));
}

TEST(OnednnLimit, TakesOnlyOursForALargerConvolution) {
  if (!blocked::supported()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  const Program program = lower(graph_of(kManyChannels, [](Builder& b, ValueId x) {
    return b.convolution("conv", x, {.channels = 16, .kernel = {3, 3, 3}, .padding = {1, 1, 1}});
  }));
  EXPECT_FALSE(within_onednn_limit(program, program.instructions[0]));
  const auto kernels = candidates(program, program.instructions[0]);
  EXPECT_FALSE(kernels.empty());
  EXPECT_EQ(std::ranges::find(kernels, ConvolutionKernel::onednn), kernels.end());
  KernelCache cache{{}};
  EXPECT_NE(choose_kernels(program, {.kernel = "onednn"}, cache)[0], ConvolutionKernel::onednn);
}

TEST(OnednnLimit, CountsChannelsThatFillUpABlock) {
  const auto convolution = [](const Shape& input) {
    return lower(graph_of(input, [](Builder& b, ValueId x) {
      return b.convolution("conv", x, {.channels = 1, .kernel = {1, 1, 1}});
    }));
  };
  const Program small = convolution({1, 17, 400, 400, 400}), large = convolution({1, 17, 410, 410, 410});
  EXPECT_TRUE(within_onednn_limit(small, small.instructions[0]));
  EXPECT_FALSE(within_onednn_limit(large, large.instructions[0]));
}

}  // namespace
}  // namespace tacho::native
