#include "engine/native/kernel_choice.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/native/passes.h"
#include "graph/builder.h"
#include "graph/gradient.h"

namespace tacho::native {
namespace {

// A convolution that every kernel can compute, and one that only oneDNN can.
Graph graph() {
  Builder b("two");
  const ValueId x = b.input("input", {1, 16, 8, 8});
  const ValueId y = b.convolution("wide", x, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  return b.finish(b.convolution("dilated", y, {.channels = 8, .kernel = {3, 3}, .dilation = {2, 2}}));
}

bool has_choice() { return candidates(lower(graph()), lower(graph()).instructions[0]).size() > 1; }

TEST(KernelChoice, TakesAForcedKernelWhereItCan) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  KernelCache cache{{}};
  const KernelChoice choice = choose_kernels(lower(graph()), {.kernel = "winograd"}, cache);
  EXPECT_EQ(choice, (KernelChoice{ConvolutionKernel::winograd, ConvolutionKernel::onednn}));
}

TEST(KernelChoice, TakesWhatTheCacheKnows) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  const Program program = lower(graph());
  for (const ConvolutionKernel kernel : candidates(program, program.instructions[0])) {
    KernelCache cache{{}};
    cache.add(1, describe_work(program, program.instructions[0]), kernel, "-");
    EXPECT_EQ(choose_kernels(program, {.threads = 1}, cache)[0], kernel);
  }
}

TEST(KernelChoice, DoesNotTakeFromTheCacheWhatCannotCompute) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  Builder b("strided");
  const ValueId x = b.input("input", {1, 16, 9, 9});
  const Program program =
      lower(b.finish(b.convolution("conv", x, {.channels = 16, .kernel = {3, 3}, .stride = {2, 2}})));
  KernelCache cache{{}};
  cache.add(1, describe_work(program, program.instructions[0]), ConvolutionKernel::winograd, "-");
  EXPECT_NE(choose_kernels(program, {.threads = 1}, cache)[0], ConvolutionKernel::winograd);
}

TEST(KernelChoice, RemembersWhatItMeasured) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  const Program program = lower(graph());
  KernelCache cache{{}};
  const KernelChoice choice = choose_kernels(program, {.threads = 1}, cache);
  EXPECT_EQ(cache.find(1, describe_work(program, program.instructions[0])), choice[0]);
}

// Timed one kernel after the other, and not all of them where one cannot be beaten.
TEST(KernelChoice, RemembersWhatItMeasuredOfLargeWork) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  Builder b("large");
  const ValueId x = b.input("input", {1, 64, 640, 520});
  const Program program =
      lower(b.finish(b.convolution("conv", x, {.channels = 64, .kernel = {3, 3}, .padding = {1, 1}})));
  KernelCache cache{{}};
  const KernelChoice choice = choose_kernels(program, {.threads = 1}, cache);
  EXPECT_EQ(cache.find(1, describe_work(program, program.instructions[0])), choice[0]);
}

using enum ConvolutionKernel;

// The kernels that are timed, in their order, where each takes `ms`.
std::vector<ConvolutionKernel> timed_in_turn(double least_direct_ms, double ms) {
  std::vector<ConvolutionKernel> order;
  time_in_turn({onednn, winograd, direct}, least_direct_ms, [&](ConvolutionKernel kernel, double best_ms) {
    EXPECT_EQ(best_ms, order.empty() ? std::numeric_limits<double>::infinity() : ms);
    order.push_back(kernel);
    return ms;
  });
  return order;
}

TEST(KernelChoice, TimesWinogradFirstAndTheOthersOnlyWhereTheyMayBeatIt) {
  EXPECT_EQ(timed_in_turn(10, 8), (KernelChoice{winograd}));
  EXPECT_EQ(timed_in_turn(10, 9.5), (KernelChoice{winograd, onednn, direct}));  // a limit is measured too
  EXPECT_EQ(timed_in_turn(0, 8), (KernelChoice{winograd, onednn, direct}));
}

TEST(KernelChoice, CountsWhatADirectConvolutionMultipliesWithoutItsPadding) {
  Builder b("odd");
  const ValueId x = b.input("input", {2, 3, 5, 7});
  const Program program = lower(b.finish(b.convolution(
      "conv", x,
      {.channels = 4, .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}})));
  // Down: 2, 3 and 2 taps of 3 are inside; across, of positions 0 to 6, all but the first and the last have
  // both.
  EXPECT_EQ(direct_flop(program, program.instructions[0]), 2 * 2 * (4 * 3) * (2 + 3 + 2) * (5 * 2 + 2));
}

TEST(KernelChoice, CountsAlsoWhatAFusedPoolingDropsAgain) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  Builder b("pooled");
  const ValueId x = b.input("input", {2, 16, 26, 23});
  const ValueId y = b.convolution("conv", x, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  Program program = lower(b.finish(b.max_pool("pool", y, {.kernel = {2, 2}, .stride = {2, 2}})));
  const double apart = direct_flop(program, program.instructions[0]);
  for (const Pass& pass : passes()) pass.run(program);
  ASSERT_EQ(program.instructions.size(), 1);
  EXPECT_EQ(direct_flop(program, program.instructions[0]), apart);
}

// Low memory packs weights in each pass, which takes time.
TEST(KernelChoice, OfLowMemoryIsAChoiceOfItsOwn) {
  Program program = lower(graph());
  const std::string work = describe_work(program, program.instructions[0]);
  program.low_memory = true;
  EXPECT_NE(describe_work(program, program.instructions[0]), work);
}

TEST(KernelChoice, CoversGradients) {
  if (!has_choice()) GTEST_SKIP() << "oneDNN is alone on this CPU";
  const Program program = lower(gradient(graph(), Loss::dice));
  KernelCache cache{{}};
  const KernelChoice choice = choose_kernels(program, {.threads = 1}, cache);
  int chosen = 0;
  for (size_t i = 0; i < choice.size(); ++i) {
    if (candidates(program, program.instructions[i]).size() < 2) continue;
    EXPECT_EQ(cache.find(1, describe_work(program, program.instructions[i])), choice[i]);
    ++chosen;
  }
  EXPECT_EQ(chosen, 2);  // of the first convolution: itself and the gradient of its weights
}

}  // namespace
}  // namespace tacho::native
