#include "kernels/winograd/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/test_lanes.h"
#include "kernels/winograd/test_convolutions.h"

namespace tacho::winograd {
namespace {

class Winograd : public OnBlocks<> {};

INSTANTIATE_TEST_SUITE_P(Blocks, Winograd, with_all_lanes(), lanes_name);

TEST_P(Winograd, EluErrsByLittleMoreThanRounding) {
  const Convolution c = on_blocks(flat(1, 1, 1, 1, 4096));
  Floats weights(9), src(size_of(c, src_layout(c)));
  weights[4] = 1;
  for (int64_t i = 0; i < src.size(); i += lanes_) src[i] = static_cast<float>(i / lanes_ - 2048) / 18.75f;
  const Floats u = packed(c, WeightOrder::forward, weights, 1);
  Floats plain(size_of(c, dst_layout(c))), dst(plain.size());
  ForwardArguments arguments = {.src = src.data(), .packed_weights = u.data(), .dst = plain.data()};
  run_forward(c, arguments, 1);
  arguments.activation = Activation::elu;
  arguments.alpha = 2;
  arguments.dst = dst.data();
  run_forward(c, arguments, 1);
  for (int64_t i = 0; i < dst.size(); i += lanes_) {
    const double x = plain[i], truth = x > 0 ? x : 2 * std::expm1(x);
    ASSERT_NEAR(dst[i], truth, 2.5e-7 * std::abs(truth)) << x;
  }
}

TEST_P(Winograd, StreamsOutputsLargerThanTheCaches) {
  const Convolution c = on_blocks(flat(2, 8, 64, 264, 256));
  const Floats src = random_src(c), u = packed(c, WeightOrder::forward, random_weights(c), 1);
  Floats streamed(size_of(c, dst_layout(c)), kUntouched), stored(streamed.size(), kUntouched);
  const Floats zeros(streamed.size());
  ForwardArguments arguments = {.src = src.data(), .packed_weights = u.data(), .dst = streamed.data()};
  run_forward(c, arguments, 2);
  arguments.residual = zeros.data();  // with which nothing is streamed
  arguments.dst = stored.data();
  run_forward(c, arguments, 2);
  for (int64_t i = 0; i < stored.size(); ++i) ASSERT_EQ(streamed[i], stored[i]) << i;
}

TEST_P(Winograd, WritesZerosIntoChannelsThatFillUpTheLastBlock) {
  const Convolution c = on_blocks(flat(1, lanes_ + 4, 2 * lanes_ + 4, 6, 6));
  const Floats src = random_src(c), bias = random_floats(c.out_channels, 4);
  const Floats u = packed(c, WeightOrder::forward, random_weights(c), 1);
  const ActivationLayout layout = dst_layout(c);
  Floats dst(size_of(c, layout), kUntouched);
  run_forward(c, {.src = src.data(), .packed_weights = u.data(), .bias = bias.data(), .dst = dst.data()}, 1);
  for (int64_t i = 2 * layout.block_stride; i < dst.size(); ++i) {
    if (i % lanes_ < 4) continue;
    ASSERT_EQ(dst[i], 0) << i;
  }
}

TEST_P(Winograd, ReadsAndWritesSlicesOfWiderTensors) {
  const Convolution dense = on_blocks(flat(3, 2 * lanes_, lanes_, 9, 9));
  const int64_t block = 9 * 9 * lanes_;
  Convolution slices = dense;
  slices.src_batch_stride = 5 * block;
  slices.dst_batch_stride = 4 * block;
  const Floats wide_src = random_floats(3 * 5 * block, 1), weights = random_weights(dense);
  Floats src(3 * 2 * block), dst(3 * block), wide_dst(3 * 4 * block, kUntouched);
  for (int64_t image = 0; image < 3; ++image) {
    std::copy_n(wide_src.data() + (image * 5 + 1) * block, 2 * block, src.data() + image * 2 * block);
  }
  const Floats u = packed(dense, WeightOrder::forward, weights, 1);
  run_forward(dense, {.src = src.data(), .packed_weights = u.data(), .dst = dst.data()}, 1);
  run_forward(
      slices,
      {.src = wide_src.data() + block, .packed_weights = u.data(), .dst = wide_dst.data() + 2 * block}, 1);
  for (int64_t i = 0; i < wide_dst.size(); ++i) {
    const int64_t image = i / (4 * block), within = i % (4 * block) - 2 * block;
    const bool inside = within >= 0 && within < block;
    ASSERT_EQ(wide_dst[i], inside ? dst[image * block + within] : kUntouched) << i;
  }
}

TEST_P(Winograd, WeightGradientsAreTheSameEachTime) {
  const Convolution c = on_blocks(flat(3, 16, 24, 30, 30));
  const Floats src = random_src(c), diff_dst = random_diff_dst(c);
  const int64_t size = random_weights(c).size();
  Floats first(size), again(size);
  run_backward_weights(c, {.src = src.data(), .diff_dst = diff_dst.data(), .diff_weights = first.data()}, 2);
  run_backward_weights(c, {.src = src.data(), .diff_dst = diff_dst.data(), .diff_weights = again.data()}, 2);
  EXPECT_TRUE(same(first, again));
}

TEST_P(Winograd, ForwardDoesNotDependOnTheNumberOfThreads) {
  const Convolution c = on_blocks(flat(2, 2 * lanes_, 6 * lanes_, 22, 19));
  const Floats src = random_src(c), u = packed(c, WeightOrder::forward, random_weights(c), 1);
  Floats alone(size_of(c, dst_layout(c))), together(alone.size());
  run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = alone.data()}, 1);
  for (const int threads : {2, 3, 16, 64}) {
    run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = together.data()}, threads);
    EXPECT_TRUE(same(alone, together)) << threads;
  }
}

// Large enough for its weights to be packed in parts.
TEST_P(Winograd, PacksPartsOfTheWeightsOnTheWay) {
  constexpr int kThreads = 2;
  const Convolution c = on_blocks(deep(2, 221, 725, {5, 4, 6}));
  const Convolution backward = backward_data(c);
  const Floats weights = random_weights(c), bias = random_floats(c.out_channels, 4);
  for (const auto& [convolution, order] :
       {std::pair{c, WeightOrder::forward}, std::pair{backward, WeightOrder::flipped}}) {
    const Floats src = random_src(convolution), residual = random_diff_dst(convolution);
    const Floats u = packed(convolution, order, weights, kThreads);
    const int64_t size = size_of(convolution, dst_layout(convolution));
    Floats whole(size, kUntouched), parts(size, kUntouched);
    ForwardArguments arguments = {.src = src.data(),
                                  .packed_weights = u.data(),
                                  .bias = bias.data(),
                                  .residual = residual.data(),
                                  .activation = Activation::relu,
                                  .dst = whole.data()};
    run_forward(convolution, arguments, kThreads);
    const int64_t scratch_floats = packing_forward_scratch_floats(convolution, kThreads);
    EXPECT_LT(scratch_floats, u.size());
    Floats scratch(scratch_floats, std::nanf(""));
    arguments.packed_weights = nullptr;
    arguments.dst = parts.data();
    packing_forward(convolution, order, weights.data(), arguments, scratch.data(), kThreads);
    EXPECT_TRUE(same(whole, parts));

    Floats masked = random_diff_dst(convolution);
    packing_forward(convolution, order, weights.data(),
                    {.src = src.data(), .mask = masked.data(), .dst = masked.data()}, scratch.data(),
                    kThreads);
    run_forward(convolution, {.src = src.data(), .packed_weights = u.data(), .dst = whole.data()}, kThreads);
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(masked[i], residual[i] > 0 ? whole[i] : 0) << i;
  }
}

// More tiles than one panel takes, channels that fill neither blocks nor slices, and maxima of them.
TEST_P(Winograd, PacksPartsOfTheWeightsForSeveralPanelsAndMaxima) {
  constexpr int kThreads = 3;
  for (const Convolution& convolution :
       {deep(1, 205, 421, {9, 25, 27}, {1, 0, 2}), flat(3, 701, 733, 33, 31)}) {
    const Convolution c = on_blocks(convolution);
    const bool max_pool = can_max_pool(c);
    const Floats weights = random_weights(c), src = random_src(c), bias = random_floats(c.out_channels, 4);
    const Floats u = packed(c, WeightOrder::forward, weights, kThreads);
    ASSERT_LT(packed_part_floats(c), u.size());
    const int64_t size = size_of(c, max_pool ? pooled_layout(c) : dst_layout(c));
    Floats whole(size, kUntouched), parts(size, kUntouched);
    ForwardArguments arguments = {.src = src.data(),
                                  .packed_weights = u.data(),
                                  .bias = bias.data(),
                                  .activation = Activation::elu,
                                  .max_pool = max_pool,
                                  .dst = whole.data()};
    run_forward(c, arguments, kThreads);
    Floats scratch(packing_forward_scratch_floats(c, kThreads), std::nanf(""));
    arguments.packed_weights = nullptr;
    arguments.dst = parts.data();
    packing_forward(c, WeightOrder::forward, weights.data(), arguments, scratch.data(), kThreads);
    EXPECT_TRUE(same(whole, parts));
  }
}

TEST_P(Winograd, AddsAResidualInPlace) {
  const Convolution c = on_blocks(flat(2, 16, 16, 10, 10));
  const Floats src = random_src(c), residual = random_diff_dst(c);
  const Floats u = packed(c, WeightOrder::forward, random_weights(c), 1);
  Floats apart(residual.size()), in_place = random_diff_dst(c);
  const ForwardArguments arguments = {.src = src.data(), .packed_weights = u.data()};
  ForwardArguments to_apart = arguments, to_itself = arguments;
  to_apart.residual = residual.data(), to_apart.dst = apart.data();
  to_itself.residual = to_itself.dst = in_place.data();
  run_forward(c, to_apart, 2);
  run_forward(c, to_itself, 2);
  EXPECT_TRUE(same(apart, in_place));
}

TEST_P(Winograd, MasksInPlace) {
  for (const Convolution& convolution : {flat(2, 19, 21, 9, 11), deep(1, 5, 12, {5, 6, 7})}) {
    const Convolution c = on_blocks(convolution);
    const Floats src = random_src(c), weights = random_weights(c), mask = random_diff_dst(c);
    const Floats u = packed(c, WeightOrder::forward, weights, 2);
    Floats plain(mask.size(), kUntouched), masked = random_diff_dst(c);
    run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = plain.data()}, 2);
    run_forward(
        c, {.src = src.data(), .packed_weights = u.data(), .mask = masked.data(), .dst = masked.data()}, 2);
    for (int64_t i = 0; i < mask.size(); ++i) ASSERT_EQ(masked[i], mask[i] > 0 ? plain[i] : 0) << i;
  }
}

TEST_P(Winograd, SaysWhyAShapeIsNotSupported) {
  const auto why_not = [&](const Convolution& c) { return why_unsupported(on_blocks(c)); };
  EXPECT_EQ(why_not(flat(1, 8, 8, 9, 9, 3)), "Winograd kernels take less padding than they are wide");
  EXPECT_EQ(why_not(shaped({2, 2}, 1, 8, 8, 9, 9)),
            "Winograd kernels are 3x3, 1x3, 3x1, 5x5, 1x7, 7x1 or 3x3x3");
  EXPECT_EQ(why_not(flat(1, 8, 8, 2, 9, 0)), "the source is smaller than the kernel");
  EXPECT_EQ(why_not(flat(0, 8, 8, 9, 9)), "the batch and the numbers of channels must be positive");
  EXPECT_EQ(why_unsupported({.in_channels = 8, .out_channels = 8, .lanes = 4}),
            "kernels are on blocks of 8 or 16 channels");
}

}  // namespace
}  // namespace tacho::winograd
