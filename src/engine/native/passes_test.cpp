#include "engine/native/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/builder.h"
#include "graph/gradient.h"
#include "kernels/blocked/blocked.h"

namespace tacho::native {
namespace {

ConvolutionOptions conv3x3() { return {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}; }

// convolution - batch norm - ReLU - convolution - batch norm - add - ReLU - dropout: the body of a ResNet.
Graph block() {
  Builder b("block");
  const ValueId x = b.input("input", {2, 8, 6, 6});
  ValueId y = b.relu("relu1", b.batch_norm("bn1", b.convolution("conv1", x, conv3x3())));
  const ValueId shortcut = y;
  y = b.batch_norm("bn2", b.convolution("conv2", y, conv3x3()));
  return b.finish(b.dropout("drop", b.relu("relu2", b.add("add", shortcut, y)), 0.5));
}

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> result;
  for (const Instruction& instruction : program.instructions) result.push_back(instruction.name);
  return result;
}

Program optimized(const Graph& graph) {
  Program program = lower(graph);
  for (const Pass& pass : passes()) pass.run(program);
  return program;
}

TEST(Passes, RemoveIdentitiesLetsReadersReadTheInput) {
  Program program = lower(block());
  const ValueId before = program.instructions.back().inputs[0];
  remove_identities(program);
  EXPECT_EQ(program.instructions.back().name, "relu2");
  EXPECT_EQ(program.outputs[0], before);
}

TEST(Passes, FoldBatchNormMovesItIntoTheConvolution) {
  Program program = lower(block());
  const ValueId result = program.instructions[1].outputs[0];
  fold_batch_norm(program);
  EXPECT_EQ(names(program), (std::vector<std::string>{"conv1", "relu1", "conv2", "add", "relu2", "drop"}));
  EXPECT_TRUE(program.instructions[0].folded);
  EXPECT_EQ(program.instructions[0].outputs[0], result);
}

TEST(Passes, FoldBatchNormLeavesAConvolutionThatOthersRead) {
  Builder b("shared");
  const ValueId x = b.input("input", {2, 8, 6, 6});
  const ValueId y = b.convolution("conv", x, conv3x3());
  Program program = lower(b.finish(b.add("add", y, b.batch_norm("bn", y))));
  fold_batch_norm(program);
  EXPECT_EQ(program.instructions.size(), 3u);
}

// A 3x3 convolution with padding 1.
Graph convolved(const Shape& input, const Extents& stride) {
  Builder b("convolved");
  const ValueId x = b.input("input", input);
  ConvolutionOptions options = conv3x3();
  options.stride = stride;
  return b.finish(b.convolution("conv", x, options));
}

TEST(Passes, TapsThatMeetOnlyPaddingAreDropped) {
  Program program = lower(convolved({4, 8, 1, 5}, {1, 1}));
  const int64_t flop = program.instructions[0].flop;
  const ValueId weight = program.instructions[0].inputs[1];
  drop_unused_taps(program);
  EXPECT_EQ(program.shape(weight), (Shape{8, 8, 1, 3}));
  EXPECT_EQ(std::get<Convolution>(program.instructions[0].op).padding, (Extents{0, 1}));
  EXPECT_EQ(program.kernel_parts.at(weight).first, (Extents{1, 0}));
  EXPECT_EQ(program.kernel_parts.at(weight).whole, (Shape{8, 8, 3, 3}));
  EXPECT_EQ(program.instructions[0].flop, flop);  // the network's
}

TEST(Passes, GradientsLoseTheSameTaps) {
  Program program =
      lower(gradient(convolved({4, 8, 2, 2}, {2, 2}), Loss::dice, GradientOptions{.of_input = true}));
  const ValueId weight = program.instructions[0].inputs[1];
  drop_unused_taps(program);
  const Shape used = {8, 8, 2, 2};
  EXPECT_EQ(program.shape(weight), used);
  EXPECT_EQ(program.shape(program.gradients[0].gradient), used);
  int gradients = 0;
  for (const Instruction& instruction : program.instructions) {
    if (const auto* data = std::get_if<ConvolutionBackwardData>(&instruction.op)) {
      EXPECT_EQ(data->forward.padding, (Extents{0, 0}));
      ++gradients;
    } else if (const auto* weights = std::get_if<ConvolutionBackwardWeights>(&instruction.op)) {
      EXPECT_EQ(weights->forward.padding, (Extents{0, 0}));
      EXPECT_EQ(weights->weight, used);
      ++gradients;
    }
  }
  EXPECT_EQ(gradients, 2);
  EXPECT_EQ(raise(program).shape(weight), (Shape{8, 8, 3, 3}));  // training keeps it whole
}

TEST(Passes, AKernelThatMeetsDataEverywhereStays) {
  Program program = lower(convolved({4, 8, 2, 3}, {1, 2}));
  drop_unused_taps(program);
  EXPECT_TRUE(program.kernel_parts.empty());
  EXPECT_EQ(std::get<Convolution>(program.instructions[0].op).padding, (Extents{1, 1}));
}

TEST(Passes, AResidualBlockBecomesTwoConvolutionsInInference) {
  const Program program = optimized(block());
  EXPECT_EQ(names(program), (std::vector<std::string>{"conv1", "conv2"}));
  const std::vector<PostOp>& fused = program.instructions[1].post_ops;
  ASSERT_EQ(fused.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Add>(fused[0].op));
  EXPECT_TRUE(std::holds_alternative<Relu>(fused[1].op));
}

TEST(Passes, TrainingFusesReluIntoBatchNormAndItsGradient) {
  const Program program = optimized(gradient(block(), Loss::dice));
  const Instruction& norm = program.instructions[1];
  EXPECT_EQ(norm.name, "bn1");
  EXPECT_EQ(norm.outputs.size(), 4u);  // the mask is the last
  int fused_backward = 0;
  for (const Instruction& instruction : program.instructions) {
    EXPECT_FALSE(std::holds_alternative<Relu>(instruction.op));
    if (!std::holds_alternative<BatchNormBackward>(instruction.op) || instruction.inputs.size() != 7)
      continue;
    EXPECT_EQ(instruction.inputs[5], norm.outputs[3]);
    EXPECT_EQ(instruction.inputs[6], norm.inputs[2]);
    ++fused_backward;
  }
  EXPECT_EQ(fused_backward, 1);
}

TEST(Passes, BatchNormIsComputedAgainForTheBackwardPass) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  const Program program = optimized(gradient(block(), Loss::dice));
  const Instruction& norm = program.instructions[1];
  int again = 0;
  for (const Instruction& instruction : program.instructions) {
    if (!instruction.backward) continue;
    EXPECT_EQ(std::ranges::count(instruction.inputs, norm.outputs[0]), 0) << instruction.name;
    const auto* op = std::get_if<BatchNorm>(&instruction.op);
    if (op == nullptr || instruction.name != "bn1") continue;
    EXPECT_FALSE(op->training);
    EXPECT_EQ(instruction.inputs[3], norm.outputs[1]);
    EXPECT_EQ(instruction.post_ops.size(), 1u);
    ++again;
  }
  EXPECT_EQ(again, 1);
}

TEST(Passes, EveryOtherResidualSumIsComputedAgain) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  Builder b("chain");
  ValueId x = b.relu("start", b.convolution("first", b.input("input", {2, 8, 6, 6}), conv3x3()));
  for (const char* name : {"a", "b", "c", "d"}) {
    const ValueId y = b.batch_norm(fmt::format("bn {}", name), b.convolution(name, x, conv3x3()));
    x = b.relu(fmt::format("relu {}", name), b.add(fmt::format("add {}", name), x, y));
  }
  const Program program = optimized(gradient(b.finish(x), Loss::dice));
  std::vector<std::string> again;
  for (const Instruction& instruction : program.instructions) {
    const bool is_sum = std::holds_alternative<Add>(instruction.op) && instruction.name.starts_with("add");
    if (is_sum && instruction.backward) again.push_back(instruction.name);
  }
  EXPECT_EQ(again, (std::vector<std::string>{"add c", "add a"}));
}

TEST(Passes, LittleMemoryComputesSegmentsAgain) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  Builder b("chain");
  ValueId x = b.input("input", {2, 8, 16, 16});
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    x = b.relu(fmt::format("relu {}", name), b.convolution(name, x, conv3x3()));
  Program program = lower(gradient(b.finish(x), Loss::dice));
  const size_t before = program.instructions.size();
  recompute_segments(program);
  EXPECT_EQ(program.instructions.size(), before);  // nobody asked
  program.low_memory = true;
  recompute_segments(program);
  const auto is_again = [](const Instruction& instruction) {
    return instruction.backward && std::holds_alternative<Convolution>(instruction.op);
  };
  EXPECT_GT(std::ranges::count_if(program.instructions, is_again), 0);
  EXPECT_LT(std::ranges::count_if(program.instructions, is_again), 8);
}

TEST(Passes, AnActivationIsNotFusedWhereItsInputIsReadElsewhere) {
  Builder b("shared");
  const ValueId x = b.input("input", {2, 8, 6, 6});
  const ValueId y = b.convolution("conv", x, conv3x3());
  Program program = lower(b.finish(b.add("add", y, b.elu("elu", y))));
  fuse_activations(program);
  EXPECT_EQ(program.instructions.size(), 3u);
}

// convolution - ReLU - max pooling, the end of each stage of a VGG.
Graph stage(int64_t channels, const MaxPool& pool) {
  Builder b("stage");
  ConvolutionOptions options = conv3x3();
  options.channels = channels;
  const ValueId x = b.input("input", {2, 16, 26, 23});
  return b.finish(b.max_pool("pool", b.relu("relu", b.convolution("conv", x, options)), pool));
}

TEST(Passes, MaxPoolBecomesPartOfAConvolution) {
  const Graph graph = stage(16, {.kernel = {2, 2}, .stride = {2, 2}});
  const Program program = optimized(graph);
  EXPECT_EQ(names(program), std::vector<std::string>{"conv"});
  const Instruction& convolution = program.instructions[0];
  ASSERT_EQ(convolution.post_ops.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<MaxPool>(convolution.post_ops[1].op));
  EXPECT_EQ(convolution.outputs[0], graph.outputs[0]);
  EXPECT_EQ(program.shape(convolution.post_ops[1].before), (Shape{2, 16, 26, 23}));
}

TEST(Passes, ThePooledSideMasksTheGradientOfARelu) {
  const Graph graph = gradient(stage(16, {.kernel = {3, 3}, .stride = {2, 2}}), Loss::dice);
  const Program program = optimized(graph);
  const auto is_mask = [](const Instruction& of) { return std::holds_alternative<ReluBackward>(of.op); };
  const auto mask = std::ranges::find_if(program.instructions, is_mask);
  ASSERT_NE(mask, program.instructions.end());
  EXPECT_EQ(program.shape(mask->outputs[0]), (Shape{2, 16, 12, 11}));
  EXPECT_TRUE(std::holds_alternative<MaxPoolBackward>((mask + 1)->op));
  EXPECT_EQ((mask + 1)->inputs[1], mask->outputs[0]);
  EXPECT_EQ(program.shape((mask + 1)->outputs[0]), (Shape{2, 16, 26, 23}));
}

// convolution - ReLU - wide convolution - wide convolution: the first layers of a VGG.
Graph first_layers() {
  Builder b("first_layers");
  ConvolutionOptions options = conv3x3();
  ValueId x = b.relu("relu", b.convolution("conv1", b.input("input", {1, 1, 20, 20}), options));
  options.channels = 64;
  x = b.convolution("conv2", x, options);
  return b.finish(b.convolution("conv3", x, options));
}

template<typename Kind>
const Instruction* find(const Program& program, const std::string& name, bool backward) {
  const auto found = std::ranges::find_if(program.instructions, [&](const Instruction& of) {
    return std::holds_alternative<Kind>(of.op) && of.name == name && of.backward == backward;
  });
  return found == program.instructions.end() ? nullptr : &*found;
}

TEST(Passes, TheGradientOfAReluBecomesPartOfAConvolutionsGradient) {
  Program program = lower(gradient(first_layers(), Loss::dice));
  const Instruction* relu = find<ReluBackward>(program, "relu", true);
  ASSERT_NE(relu, nullptr);
  const ValueId y = relu->inputs[0], before = relu->inputs[1], dx = relu->outputs[0];
  fuse_relu_gradients(program);
  EXPECT_EQ(find<ReluBackward>(program, "relu", true), nullptr);
  const Instruction* convolution = find<ConvolutionBackwardData>(program, "conv2", true);
  ASSERT_NE(convolution, nullptr);
  ASSERT_EQ(convolution->post_ops.size(), 1u);
  EXPECT_EQ(convolution->post_ops[0].operand, y);
  EXPECT_EQ(convolution->post_ops[0].before, before);
  EXPECT_EQ(convolution->outputs[0], dx);
}

TEST(Passes, TheSumOfGradientsBecomesPartOfAConvolutionsGradient) {
  Program program = lower(gradient(block(), Loss::dice));
  const auto is_sum = [](const Instruction& of) { return std::holds_alternative<Add>(of.op) && of.backward; };
  const Instruction sum = *std::ranges::find_if(program.instructions, is_sum);
  fuse_gradient_sums(program);
  EXPECT_EQ(std::ranges::count_if(program.instructions, is_sum), 0);
  const Instruction* convolution = find<ConvolutionBackwardData>(program, "conv2", true);
  ASSERT_NE(convolution, nullptr);
  ASSERT_EQ(convolution->post_ops.size(), 1u);
  const PostOp& fused = convolution->post_ops[0];
  EXPECT_EQ((std::set{fused.before, fused.operand}), (std::set{sum.inputs[0], sum.inputs[1]}));
  EXPECT_EQ(convolution->outputs, sum.outputs);
}

TEST(Passes, TheSumOfGradientsBecomesPartOfABatchNormsGradient) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  Builder b("norm and shortcut");
  const ValueId x = b.convolution("conv", b.input("input", {2, 8, 6, 6}), conv3x3());
  Program program = lower(gradient(b.finish(b.add("add", x, b.batch_norm("norm", x))), Loss::dice));
  fuse_gradient_sums(program);
  const Instruction* norm = find<BatchNormBackward>(program, "norm", true);
  ASSERT_NE(norm, nullptr);
  ASSERT_EQ(norm->post_ops.size(), 1u);
  EXPECT_EQ(norm->outputs.size(), 3u);
}

TEST(Passes, ASumOfGradientsStaysApartWhereTheOtherOperandComesLater) {
  Program program = lower(gradient(block(), Loss::dice));
  const ValueId made = find<ConvolutionBackwardData>(program, "conv2", true)->outputs[0];
  const auto is_sum = [](const Instruction& of) { return std::holds_alternative<Add>(of.op) && of.backward; };
  const auto sum = std::ranges::find_if(program.instructions, is_sum);
  const ValueId other = sum->inputs[0] == made ? sum->inputs[1] : sum->inputs[0];
  // The other operand is made once more, right before the sum.
  const auto late = static_cast<ValueId>(program.values.size());
  program.values.push_back(Value(program.value(other)));
  std::ranges::replace(sum->inputs, other, late);
  program.instructions.insert(sum, {Relu{}, "late", {other}, {late}, true});
  fuse_gradient_sums(program);
  EXPECT_EQ(std::ranges::count_if(program.instructions, is_sum), 1);
}

TEST(Passes, TheGradientOfAReluStaysApartWhereItsResultComesLater) {
  Program program = lower(gradient(first_layers(), Loss::dice));
  const auto is_relu = [](const Instruction& of) { return std::holds_alternative<Relu>(of.op); };
  const auto is_gradient = [](const Instruction& of) { return std::holds_alternative<ReluBackward>(of.op); };
  const Instruction relu = *std::ranges::find_if(program.instructions, is_relu);
  std::erase_if(program.instructions, is_relu);
  program.instructions.insert(std::ranges::find_if(program.instructions, is_gradient), relu);
  fuse_relu_gradients(program);
  EXPECT_NE(find<ReluBackward>(program, "relu", true), nullptr);
}

// Without an activation of its own, or as most of the work.
TEST(Passes, OtherFirstConvolutionsAreKept) {
  Builder plain("plain"), only("only");
  ConvolutionOptions options = conv3x3();
  ValueId x = plain.convolution("conv1", plain.input("input", {1, 1, 20, 20}), options);
  options.channels = 64;
  x = plain.convolution("conv3", plain.convolution("conv2", x, options), options);
  ValueId y = only.relu("relu", only.convolution("conv1", only.input("input", {1, 1, 20, 20}), options));
  y = only.convolution("conv2", y, {.channels = 1, .kernel = {1, 1}});
  for (Builder* builder : {&plain, &only}) {
    const Program program = optimized(gradient(builder->finish(builder == &plain ? x : y), Loss::dice));
    EXPECT_EQ(find<Convolution>(program, "conv1", true), nullptr);
  }
}

TEST(Passes, ACheapFirstConvolutionIsComputedAgainAndOthersAreNot) {
  const Program program = optimized(gradient(first_layers(), Loss::dice));
  const Instruction *first = find<Convolution>(program, "conv1", false),
                    *again = find<Convolution>(program, "conv1", true);
  ASSERT_TRUE(first && again);
  EXPECT_NE(first->outputs[0], again->outputs[0]);
  EXPECT_EQ(first->inputs, again->inputs);
  const Instruction* weights = find<ConvolutionBackwardWeights>(program, "conv2", true);
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(weights->inputs[0], again->outputs[0]);
  EXPECT_EQ(find<Convolution>(program, "conv2", true), nullptr);
}

TEST(Passes, AnUpsampledValueAndItsConcatenationAreComputedAgain) {
  Builder b("upsampled");
  const ValueId x = b.convolution("conv1", b.input("input", {1, 8, 6, 6}), conv3x3());
  const ValueId joined =
      b.concat("concat", {b.upsample("upsample", b.max_pool("pool", x, {.kernel = {2, 2}}), {2, 2}), x});
  const Program program =
      optimized(gradient(b.finish(b.convolution("conv2", joined, conv3x3())), Loss::dice));
  const Instruction *upsample = find<Upsample>(program, "upsample", true),
                    *concat = find<Concat>(program, "concat", true);
  ASSERT_TRUE(upsample && concat);
  EXPECT_EQ(concat->inputs, (std::vector{upsample->outputs[0], x}));
  EXPECT_EQ(find<ConvolutionBackwardWeights>(program, "conv2", true)->inputs[0], concat->outputs[0]);
}

TEST(Passes, TheGradientOfLinearWeightsComesAfterWhatReadsThemWhereItIsNotKept) {
  Builder b("linear");
  const ValueId x = b.relu("relu", b.linear("first", b.input("input", {2, 3}), {5}));
  const Graph graph = gradient(b.finish(b.linear("last", x, {7})), Loss::softmax_cross_entropy);
  const auto position_of = [](const Program& program, std::string_view op) {
    const auto is = [&](const Instruction& each) { return each.name == "last" && name_of(each.op) == op; };
    return std::ranges::find_if(program.instructions, is) - program.instructions.begin();
  };
  for (const bool keep : {true, false}) {
    Program program = lower(graph);
    program.keep_gradients = keep;
    delay_linear_gradients(program);
    EXPECT_EQ(position_of(program, "linear_backward_weights") < position_of(program, "linear_backward_data"),
              keep);
  }
}

TEST(Passes, OtherMaxPoolsStayBehindTheirConvolutions) {
  EXPECT_EQ(optimized(stage(16, {.kernel = {3, 3}, .stride = {2, 2}})).instructions.size(), 2u);
  EXPECT_EQ(optimized(stage(16, {.kernel = {2, 2}, .stride = {2, 2}, .ceil_mode = true})).instructions.size(),
            2u);
}

}  // namespace
}  // namespace tacho::native
