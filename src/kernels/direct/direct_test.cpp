#include "kernels/direct/direct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/direct/layout.h"
#include "kernels/direct/reference.h"
#include "kernels/test_floats.h"
#include "kernels/test_lanes.h"

namespace tacho::direct {
namespace {

constexpr float kUntouched = 77;

Floats random_src(const Convolution& c, uint64_t seed = 1) {
  return random_activation(c.batch, src_layout(c), c.in_channels, seed);
}
Floats random_dst(const Convolution& c, uint64_t seed = 2) {
  return random_activation(c.batch, dst_layout(c), c.out_channels, seed);
}
Floats random_weights(const Convolution& c) {
  return random_floats(c.out_channels * c.in_channels * taps(c), 3);
}
Floats untouched_dst(const Convolution& c) {
  return Floats(c.batch * dst_layout(c).batch_stride, kUntouched);
}

using enum Direction;

Floats packed(const Convolution& convolution, const Floats& weights, Direction direction = forward,
              int threads = 1) {
  Floats result(packed_weights_floats(convolution, direction), kUntouched);
  pack_weights(convolution, direction, weights.data(), result.data(), threads);
  return result;
}

void run(const Convolution& convolution, const GatherArguments& arguments, int threads,
         Direction direction = forward) {
  Floats scratch(gather_scratch_floats(convolution, direction, threads), std::nanf(""));
  gather(convolution, direction, arguments, scratch.data(), threads);
}

using Extents = std::array<int64_t, 3>;

constexpr Convolution flat(int64_t batch, int64_t in, int64_t out, Extents kernel, Extents extents,
                           Extents padding = {0, 0, 0}, Extents stride = {1, 1, 1}) {
  return {batch, in, out, kernel, stride, extents, padding};
}

struct Case {
  const char* name;
  Convolution convolution;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AnyKernel : public OnBlocks<Case> {
 protected:
  void SetUp() override {
    OnBlocks::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(why_unsupported(convolution_), std::nullopt);
  }

  const Convolution convolution_ = on_blocks(std::get<1>(GetParam()).convolution);
};

// Five times what a sum in float of so many products of normal numbers is off: each partial sum, which grows
// as the root of their number, is rounded.
double allowed_error(int64_t products) { return 1.2e-7 * static_cast<double>(products) + 1e-6; }

void expect_gathers(const Convolution& c, Direction direction, GatherArguments arguments, int64_t products,
                    Floats& written) {
  const Floats weights = random_weights(c);
  std::vector<double> truth(static_cast<size_t>(written.size()));
  arguments.written = written.data();
  gather_reference(c, direction, arguments, weights.data(), truth.data());
  for (const int threads : {1, 2, 3, 7}) {
    const Floats to_use = packed(c, weights, direction, threads);
    arguments.packed_weights = to_use.data();
    std::fill_n(written.data(), written.size(), kUntouched);
    run(c, arguments, threads, direction);
    for (int64_t i = 0; i < written.size(); ++i) {
      const double exact = truth[static_cast<size_t>(i)];
      ASSERT_NEAR(written[i], exact, allowed_error(products) * std::max(1.0, std::abs(exact)))
          << i << ", " << threads;
    }
  }
}

TEST_P(AnyKernel, ForwardErrsNoMoreThanASumInFloat) {
  const Convolution& c = convolution_;
  const Floats src = random_src(c), bias = random_floats(c.out_channels, 4), residual = random_dst(c);
  Floats dst = untouched_dst(c);
  expect_gathers(c, forward,
                 {.read = src.data(), .bias = bias.data(), .residual = residual.data(), .relu = true},
                 taps(c) * c.in_channels, dst);
}

TEST_P(AnyKernel, DataGradientErrsNoMoreThanASumInFloat) {
  const Convolution& c = convolution_;
  const Floats diff_dst = random_dst(c), residual = random_src(c, 5), mask = random_src(c, 6);
  Floats diff_src(c.batch * src_layout(c).batch_stride);
  const int64_t products = taps(c) * c.out_channels;
  expect_gathers(c, backward, {.read = diff_dst.data()}, products, diff_src);
  expect_gathers(c, backward, {.read = diff_dst.data(), .residual = residual.data(), .mask = mask.data()},
                 products, diff_src);
}

TEST_P(AnyKernel, WeightGradientErrsNoMoreThanASumInFloat) {
  const Convolution& c = convolution_;
  const Floats src = random_src(c), diff_dst = random_dst(c);
  const int64_t weights = c.out_channels * c.in_channels * taps(c);
  std::vector<double> truth(static_cast<size_t>(weights)), bias_truth(static_cast<size_t>(c.out_channels));
  backward_weights_reference(c, src.data(), diff_dst.data(), truth.data(), bias_truth.data());
  const int64_t products = c.batch * dst_layout(c).block_stride / lanes_;
  for (const int threads : {1, 2, 3, 7}) {
    Floats diff_weights(weights, kUntouched), diff_bias(c.out_channels, kUntouched),
        scratch(backward_weights_scratch_floats(c, threads), std::nanf(""));
    backward_weights(c, {src.data(), diff_dst.data(), diff_weights.data(), diff_bias.data()}, scratch.data(),
                     threads);
    const auto expect_near = [&](const Floats& found, const std::vector<double>& exact) {
      for (int64_t i = 0; i < found.size(); ++i) {
        const double value = exact[static_cast<size_t>(i)];
        ASSERT_NEAR(found[i], value, allowed_error(products) * std::max(1.0, std::abs(value)))
            << i << ", " << threads;
      }
    };
    expect_near(diff_weights, truth);
    expect_near(diff_bias, bias_truth);
  }
}

const Case kCases[] = {
    {"pointwise", flat(2, 16, 32, {1, 1, 1}, {1, 9, 11})},
    {"pointwise_with_stride_2", flat(2, 16, 32, {1, 1, 1}, {1, 9, 12}, {0, 0, 0}, {1, 2, 2})},
    {"pointwise_of_many_channels", flat(1, 600, 72, {1, 1, 1}, {1, 7, 7})},
    {"pointwise_of_full_blocks_to_others", flat(2, 32, 21, {1, 1, 1}, {1, 9, 11})},
    {"pointwise_of_a_large_image", flat(3, 24, 44, {1, 1, 1}, {1, 31, 33})},
    {"pointwise_of_a_volume", flat(2, 20, 12, {1, 1, 1}, {4, 9, 11})},
    {"pointwise_of_tiny_images", flat(33, 72, 40, {1, 1, 1}, {1, 2, 2})},
    {"one_position", flat(1, 40, 100, {1, 1, 1}, {1, 1, 1})},
    {"square", flat(2, 16, 32, {1, 3, 3}, {1, 9, 10}, {0, 1, 1})},
    {"square_without_padding", flat(1, 16, 32, {1, 3, 3}, {1, 9, 10})},
    {"square_with_stride_2", flat(3, 24, 16, {1, 3, 3}, {1, 14, 15}, {0, 1, 1}, {1, 2, 2})},
    {"stride_2_that_skips_the_end", flat(1, 8, 16, {1, 3, 3}, {1, 8, 6}, {0, 0, 0}, {1, 2, 2})},
    {"stride_beyond_the_kernel", flat(1, 8, 16, {1, 2, 2}, {1, 11, 13}, {0, 1, 1}, {1, 3, 5})},
    {"five_by_five", flat(2, 48, 64, {1, 5, 5}, {1, 8, 9}, {0, 2, 2})},
    {"seven_by_seven_stride_2", flat(1, 3, 64, {1, 7, 7}, {1, 21, 22}, {0, 3, 3}, {1, 2, 2})},
    {"row_of_seven", flat(2, 40, 48, {1, 1, 7}, {1, 17, 17}, {0, 0, 3})},
    {"column_of_seven", flat(2, 40, 48, {1, 7, 1}, {1, 17, 17}, {0, 3, 0})},
    {"row_of_three", flat(1, 24, 48, {1, 1, 3}, {1, 8, 8}, {0, 0, 1})},
    {"even_kernel", flat(1, 16, 16, {1, 4, 2}, {1, 9, 7}, {0, 2, 1})},
    {"kernel_larger_than_the_source", flat(2, 8, 16, {1, 5, 5}, {1, 2, 1}, {0, 4, 4})},
    {"unequal_padding_and_stride", flat(2, 8, 16, {1, 3, 5}, {1, 10, 7}, {0, 2, 1}, {1, 1, 3})},
    {"channels_12_20", flat(2, 12, 20, {1, 3, 3}, {1, 7, 7}, {0, 1, 1})},
    {"channels_3_5", flat(2, 3, 5, {1, 3, 3}, {1, 10, 6}, {0, 1, 1}, {1, 2, 2})},
    {"channels_1_8", flat(1, 1, 8, {1, 3, 3}, {1, 5, 5}, {0, 1, 1})},
    {"many_chunks_of_channels", flat(1, 300, 40, {1, 3, 3}, {1, 5, 6}, {0, 1, 1})},
    {"many_slices_of_channels", flat(1, 20, 150, {1, 3, 3}, {1, 5, 6}, {0, 1, 1})},
    {"many_panels", flat(2, 8, 24, {1, 3, 3}, {1, 61, 60}, {0, 1, 1})},
    {"volume", flat(1, 16, 16, {3, 3, 3}, {5, 6, 7}, {1, 1, 1})},
    {"volume_with_stride_2", flat(2, 12, 20, {2, 2, 2}, {6, 5, 8}, {0, 0, 0}, {2, 2, 2})},
    {"volume_of_unequal_sides", flat(1, 9, 17, {3, 1, 5}, {4, 5, 9}, {2, 0, 2}, {1, 2, 3})},
};

INSTANTIATE_TEST_SUITE_P(Direct, AnyKernel, with_all_lanes(testing::ValuesIn(kCases)), [](const auto& test) {
  return std::get<1>(test.param).name + ("_" + lanes_name(test));
});

class Direct : public OnBlocks<> {};

INSTANTIATE_TEST_SUITE_P(Blocks, Direct, with_all_lanes(), lanes_name);

TEST_P(Direct, WritesZerosIntoChannelsThatFillUpTheLastBlock) {
  const Convolution c = on_blocks(flat(1, lanes_ + 4, 2 * lanes_ + 4, {1, 3, 3}, {1, 6, 6}, {0, 1, 1}));
  const Floats src = random_src(c), bias = random_floats(c.out_channels, 4),
               weights = packed(c, random_weights(c));
  Floats dst = untouched_dst(c);
  run(c, {.read = src.data(), .packed_weights = weights.data(), .bias = bias.data(), .written = dst.data()},
      1);
  for (int64_t i = 2 * dst_layout(c).block_stride; i < dst.size(); ++i) {
    if (i % lanes_ < 4) continue;
    ASSERT_EQ(dst[i], 0) << i;
  }
}

TEST_P(Direct, ReadsAndWritesSlicesOfWiderTensors) {
  const Convolution dense = on_blocks(flat(3, 2 * lanes_, lanes_, {1, 1, 7}, {1, 9, 9}, {0, 0, 3}));
  const int64_t block = 9 * 9 * lanes_;
  Convolution slices = dense;
  slices.src_batch_stride = 5 * block;
  slices.dst_batch_stride = 4 * block;
  const Floats wide_src = random_floats(3 * 5 * block, 1), weights = packed(dense, random_weights(dense));
  Floats src(3 * 2 * block), dst(3 * block), wide_dst(3 * 4 * block, kUntouched);
  for (int64_t image = 0; image < 3; ++image) {
    std::copy_n(wide_src.data() + (image * 5 + 1) * block, 2 * block, src.data() + image * 2 * block);
  }
  run(dense, {.read = src.data(), .packed_weights = weights.data(), .written = dst.data()}, 1);
  run(slices,
      {.read = wide_src.data() + block,
       .packed_weights = weights.data(),
       .written = wide_dst.data() + 2 * block},
      1);
  for (int64_t i = 0; i < wide_dst.size(); ++i) {
    const int64_t image = i / (4 * block), within = i % (4 * block) - 2 * block;
    const bool inside = within >= 0 && within < block;
    ASSERT_EQ(wide_dst[i], inside ? dst[image * block + within] : kUntouched) << i;
  }
}

TEST_P(Direct, GradientsReadAndWriteSlicesOfWiderTensors) {
  const int64_t in = 2 * lanes_, out = 3 * lanes_;
  for (const Convolution& convolution : {flat(3, in, out, {1, 1, 1}, {1, 11, 10}),
                                         flat(3, in, out, {1, 3, 3}, {1, 9, 9}, {0, 1, 1}, {1, 2, 2})}) {
    const Convolution dense = on_blocks(convolution);
    Convolution slices = dense;
    const ActivationLayout src = src_layout(dense), dst = dst_layout(dense);
    slices.src_batch_stride = 2 * src.batch_stride;
    slices.dst_batch_stride = 3 * dst.batch_stride;
    // Each image's part at the beginning of a wider one.
    const auto widened = [](const Floats& from, int64_t stride, int64_t wide_stride) {
      Floats to(3 * wide_stride, kUntouched);
      for (int64_t image = 0; image < 3; ++image)
        std::copy_n(from.data() + image * stride, stride, to.data() + image * wide_stride);
      return to;
    };
    const Floats from = random_src(dense), gradient = random_dst(dense),
                 weights = packed(dense, random_weights(dense), backward),
                 wide_from = widened(from, src.batch_stride, slices.src_batch_stride),
                 wide_gradient = widened(gradient, dst.batch_stride, slices.dst_batch_stride);
    Floats data(3 * src.batch_stride), wide_data(3 * slices.src_batch_stride, kUntouched);
    run(dense, {.read = gradient.data(), .packed_weights = weights.data(), .written = data.data()}, 2,
        backward);
    run(slices, {.read = wide_gradient.data(), .packed_weights = weights.data(), .written = wide_data.data()},
        2, backward);
    EXPECT_TRUE(same(widened(data, src.batch_stride, slices.src_batch_stride), wide_data));
    const auto weight_gradient = [](const Convolution& c, const Floats& x, const Floats& dy) {
      Floats result(c.out_channels * c.in_channels * taps(c)),
          scratch(backward_weights_scratch_floats(c, 2), std::nanf(""));
      backward_weights(c, {x.data(), dy.data(), result.data()}, scratch.data(), 2);
      return result;
    };
    EXPECT_TRUE(
        same(weight_gradient(dense, from, gradient), weight_gradient(slices, wide_from, wide_gradient)));
  }
}

TEST_P(Direct, DataGradientDoesNotDependOnTheNumberOfThreads) {
  const Convolution c =
      on_blocks(flat(2, 5 * lanes_, 55 * lanes_, {1, 3, 3}, {1, 22, 19}, {0, 1, 1}, {1, 2, 2}));
  const Floats gradient = random_dst(c), weights = packed(c, random_weights(c), backward);
  const auto with = [&](int threads) {
    Floats in_place = random_src(c, 5);
    GatherArguments arguments = {.read = gradient.data(), .packed_weights = weights.data()};
    arguments.residual = arguments.written = in_place.data();
    run(c, arguments, threads, backward);
    return in_place;
  };
  const Floats alone = with(1);
  for (const int threads : {2, 3, 16, 64}) EXPECT_TRUE(same(alone, with(threads))) << threads;
}

TEST_P(Direct, ForwardDoesNotDependOnTheNumberOfThreads) {
  const Convolution c =
      on_blocks(flat(2, 10 * lanes_, 9 * lanes_, {1, 3, 3}, {1, 22, 19}, {0, 1, 1}, {1, 2, 2}));
  const Floats src = random_src(c), weights = packed(c, random_weights(c));
  Floats alone = untouched_dst(c);
  run(c, {.read = src.data(), .packed_weights = weights.data(), .written = alone.data()}, 1);
  for (const int threads : {2, 3, 16, 64}) {
    Floats together = untouched_dst(c);
    run(c, {.read = src.data(), .packed_weights = weights.data(), .written = together.data()}, threads);
    EXPECT_TRUE(same(alone, together)) << threads;
  }
}

TEST_P(Direct, WeightGradientsAreTheSameFromRunToRun) {
  const int64_t in = 5 * lanes_, out = 9 * lanes_;
  for (const Convolution& convolution :
       {flat(4, in, out, {1, 1, 1}, {1, 22, 19}), flat(4, in, out, {1, 3, 3}, {1, 9, 9})}) {
    const Convolution c = on_blocks(convolution);
    const Floats src = random_src(c), diff_dst = random_dst(c);
    const auto gradient = [&] {
      Floats result(c.out_channels * c.in_channels * taps(c)),
          scratch(backward_weights_scratch_floats(c, 3), std::nanf(""));
      backward_weights(c, {src.data(), diff_dst.data(), result.data()}, scratch.data(), 3);
      return result;
    };
    const Floats first = gradient();
    for (int run = 0; run < 5; ++run) EXPECT_TRUE(same(first, gradient()));
  }
}

TEST_P(Direct, AddsAResidualInPlace) {
  const Convolution c = on_blocks(flat(2, 80, 16, {1, 3, 3}, {1, 10, 10}, {0, 1, 1}));
  const Floats src = random_src(c), residual = random_dst(c), weights = packed(c, random_weights(c));
  Floats apart = untouched_dst(c), in_place = random_dst(c);
  GatherArguments arguments = {.read = src.data(), .packed_weights = weights.data()};
  arguments.residual = residual.data(), arguments.written = apart.data();
  run(c, arguments, 2);
  arguments.residual = arguments.written = in_place.data();
  run(c, arguments, 2);
  EXPECT_TRUE(same(apart, in_place));
}

TEST_P(Direct, SaysWhyAShapeIsNotSupported) {
  const auto why_not = [&](const Convolution& c) { return why_unsupported(on_blocks(c)); };
  EXPECT_EQ(why_not(flat(1, 8, 8, {1, 3, 3}, {1, 9, 9}, {0, 3, 3})),
            "direct kernels take padding smaller than the kernel");
  EXPECT_EQ(why_not(flat(1, 8, 8, {1, 3, 3}, {1, 2, 9})), "the source is smaller than the kernel");
  EXPECT_EQ(why_not(flat(0, 8, 8, {1, 3, 3}, {1, 9, 9})),
            "the batch and the numbers of channels must be positive");
  EXPECT_EQ(why_not(flat(1, 8, 8, {1, 1, 1}, {1, 9, 99}, {0, 0, 0}, {1, 1, 17})),
            "direct kernels take strides of 1 to 16");
  EXPECT_EQ(why_not(flat(1, 8, 8, {1, 1, 17}, {1, 9, 99})), "direct kernels are 1 to 16 long on each axis");
  EXPECT_EQ(why_unsupported({.in_channels = 8, .out_channels = 8, .lanes = 4}),
            "kernels are on blocks of 8 or 16 channels");
}

}  // namespace
}  // namespace tacho::direct
