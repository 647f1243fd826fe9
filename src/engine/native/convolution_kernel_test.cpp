#include "engine/native/convolution_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/native/passes.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

using enum ConvolutionKernel;

Program optimized(const Graph& graph) {
  Program program = lower(graph);
  for (const Pass& pass : passes()) pass.run(program);
  return program;
}

std::vector<std::string> ops(const Program& program, const std::string& name) {
  std::vector<std::string> result;
  for (const Instruction& of : program.instructions) {
    if (of.name == name) result.emplace_back(name_of(of.op));
  }
  return result;
}

// convolution - ReLU - max pooling
Program pooled() {
  Builder b("pooled");
  const ValueId x = b.input("input", {2, 16, 26, 24});
  const ValueId y = b.convolution("conv", x, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  return optimized(b.finish(b.max_pool("pool", b.relu("relu", y), {.kernel = {2, 2}, .stride = {2, 2}})));
}

TEST(ConvolutionKernels, SplitOffWhatTheyDoNotTake) {
  Program program = pooled();
  ASSERT_EQ(program.instructions.size(), 1u);
  const ValueId before = program.instructions[0].post_ops[1].before, result = program.outputs[0];
  KernelChoice choice = {onednn};
  split_post_ops(program, choice);
  ASSERT_EQ(program.instructions.size(), 2u);
  EXPECT_EQ(choice.size(), 2u);
  const Instruction &convolution = program.instructions[0], &pool = program.instructions[1];
  EXPECT_EQ(convolution.post_ops.size(), 1u);  // the ReLU
  EXPECT_EQ(convolution.outputs[0], before);
  EXPECT_TRUE(std::holds_alternative<MaxPool>(pool.op));
  EXPECT_EQ(pool.inputs, (std::vector{before}));
  EXPECT_EQ(pool.outputs, (std::vector{result}));
}

TEST(ConvolutionKernels, KeepWhatTheyTake) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  Program program = pooled();
  KernelChoice choice = {winograd};
  split_post_ops(program, choice);
  EXPECT_EQ(program.instructions.size(), 1u);
}

// Two blocks of ReLU - convolution - sum with what was before, whose gradients are summed and then masked.
Graph residual_blocks() {
  Builder b("residual");
  ValueId x = b.convolution("first", b.input("input", {2, 16, 9, 9}), {.channels = 16, .kernel = {1, 1}});
  for (const char* name : {"one", "two"}) {
    x = b.relu(std::string(name) + ".relu", x);
    x = b.add(std::string(name) + ".add", x, b.convolution(name, x, {.channels = 16, .kernel = {1, 1}}));
  }
  return b.finish(x);
}

TEST(ConvolutionKernels, OfGradientsTakeASumAndAMaskOrSplitThemOffInOrder) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  const Program fused = optimized(gradient(residual_blocks(), Loss::dice));
  const auto backward_of_two = [&](ConvolutionKernel kernel) {
    Program program = fused;
    KernelChoice choice(program.instructions.size(), kernel);
    split_post_ops(program, choice);
    EXPECT_EQ(choice.size(), program.instructions.size());
    std::erase_if(program.instructions, [](const Instruction& of) { return !of.backward; });
    return ops(program, "two");
  };
  std::vector<std::string> apart = {"convolution_backward_weights", "convolution_backward_data"};
  EXPECT_EQ(backward_of_two(direct), apart);
  apart.insert(apart.end(), {"add", "relu_backward"});
  EXPECT_EQ(backward_of_two(onednn), apart);
}

}  // namespace
}  // namespace tacho::native
