#include "kernels/winograd/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/test_floats.h"
#include "kernels/winograd/layout.h"
#include "kernels/winograd/reference.h"

namespace tacho::winograd {
namespace {

constexpr float kUntouched = 77;

int64_t size_of(const Convolution& convolution, const ActivationLayout& layout) {
  return convolution.batch * layout.batch_stride;
}

// Zeros in the channels that fill up the last block, as the contract asks.
Floats random_activation(const Convolution& convolution, const ActivationLayout& layout, int64_t channels,
                         uint64_t seed) {
  Floats values = random_floats(size_of(convolution, layout), seed);
  for (int64_t i = 0; i < values.size(); ++i) {
    const int64_t block = i % layout.batch_stride / layout.block_stride;
    if (block * kLanes + i % kLanes >= channels) values[i] = 0;
  }
  return values;
}

Floats random_src(const Convolution& c) { return random_activation(c, src_layout(c), c.in_channels, 1); }
Floats random_diff_dst(const Convolution& c) {
  return random_activation(c, dst_layout(c), c.out_channels, 2);
}
Floats random_weights(const Convolution& c) {
  return random_floats(c.out_channels * c.in_channels * taps(c), 3);
}

Floats packed(const Convolution& convolution, WeightOrder order, const Floats& weights, int threads) {
  Floats result(packed_weights_floats(convolution), kUntouched);
  pack_weights(convolution, order, weights.data(), result.data(), threads);
  return result;
}

void run_forward(const Convolution& convolution, const ForwardArguments& arguments, int threads) {
  Floats scratch(forward_scratch_floats(convolution, threads), std::nanf(""));
  forward(convolution, arguments, scratch.data(), threads);
}

void run_backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                          int threads) {
  Floats scratch(backward_weights_scratch_floats(convolution, threads), std::nanf(""));
  backward_weights(convolution, arguments, scratch.data(), threads);
}

template<typename Values>
double rms_error(const Values& values, const std::vector<double>& truth) {
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    const double error = values[static_cast<int64_t>(i)] - truth[i];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

struct Case {
  const char* name;
  Convolution convolution;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Convolution flat(int64_t batch, int64_t in, int64_t out, int64_t height, int64_t width,
                           int64_t padding = 1) {
  return {batch, in, out, {1, 3, 3}, {1, height, width}, {0, padding, padding}};
}

// With as many outputs as inputs.
constexpr Convolution shaped(std::array<int, 2> kernel, int64_t batch, int64_t in, int64_t out,
                             int64_t height, int64_t width) {
  return {batch, in, out, {1, kernel[0], kernel[1]}, {1, height, width}, {0, kernel[0] / 2, kernel[1] / 2}};
}

constexpr Convolution deep(int64_t batch, int64_t in, int64_t out, std::array<int64_t, 3> extents,
                           std::array<int64_t, 3> padding = {1, 1, 1}) {
  return {batch, in, out, {3, 3, 3}, extents, padding};
}

class EveryShape : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
    ASSERT_EQ(why_unsupported(GetParam().convolution), std::nullopt);
  }
};

// Transforms of three axes and of more than three taps.
bool errs_more(const Convolution& c) { return is_deep(c) || std::ranges::max(c.kernel) > 3; }

// Errors of a direct sum in float are the measure. Where padding leaves it few terms, those of its full
// length.
double allowed_error(const Convolution& c, double direct_error) {
  const double full_length = static_cast<double>(taps(c) * std::min(c.in_channels, c.out_channels));
  return (errs_more(c) ? 6 : 4) * std::max(direct_error, 6e-8 * std::sqrt(full_length));
}

TEST_P(EveryShape, ForwardErrsLittleMoreThanADirectSum) {
  const Convolution& c = GetParam().convolution;
  const Floats src = random_src(c), weights = random_weights(c), bias = random_floats(c.out_channels, 4),
               residual = random_diff_dst(c);
  const int64_t size = size_of(c, dst_layout(c));
  std::vector<double> truth(size);
  std::vector<float> direct(size);
  forward_reference(c, src.data(), weights.data(), bias.data(), residual.data(), Activation::relu, 1,
                    truth.data());
  forward_reference(c, src.data(), weights.data(), bias.data(), residual.data(), Activation::relu, 1,
                    direct.data());
  for (const int threads : {1, 2, 3}) {
    const Floats u = packed(c, WeightOrder::forward, weights, threads);
    Floats dst(size, kUntouched);
    run_forward(c,
                {.src = src.data(),
                 .packed_weights = u.data(),
                 .bias = bias.data(),
                 .residual = residual.data(),
                 .activation = Activation::relu,
                 .dst = dst.data()},
                threads);
    EXPECT_LE(rms_error(dst, truth), allowed_error(c, rms_error(direct, truth))) << threads << " threads";
  }
}

TEST_P(EveryShape, BackwardDataErrsLittleMoreThanADirectSum) {
  const Convolution& c = GetParam().convolution;
  const Convolution backward = backward_data(c);
  const Floats diff_dst = random_diff_dst(c), weights = random_weights(c);
  const int64_t size = size_of(c, src_layout(c));
  std::vector<double> truth(size);
  std::vector<float> direct(size);
  backward_data_reference(c, diff_dst.data(), weights.data(), truth.data());
  backward_data_reference(c, diff_dst.data(), weights.data(), direct.data());
  const Floats u = packed(backward, WeightOrder::flipped, weights, 2);
  Floats diff_src(size, kUntouched);
  run_forward(backward, {.src = diff_dst.data(), .packed_weights = u.data(), .dst = diff_src.data()}, 2);
  EXPECT_LE(rms_error(diff_src, truth), allowed_error(c, rms_error(direct, truth)));
}

TEST_P(EveryShape, BackwardWeightsErrLittleMoreThanADirectSum) {
  const Convolution& c = GetParam().convolution;
  const Floats src = random_src(c), diff_dst = random_diff_dst(c);
  const int64_t size = random_weights(c).size();
  std::vector<double> truth(size), bias_truth(c.out_channels);
  std::vector<float> direct(size), direct_bias(c.out_channels);
  backward_weights_reference(c, src.data(), diff_dst.data(), truth.data(), bias_truth.data());
  backward_weights_reference(c, src.data(), diff_dst.data(), direct.data(), direct_bias.data());
  for (const int threads : {1, 2, 3}) {
    Floats diff_weights(size, kUntouched), diff_bias(c.out_channels, kUntouched);
    run_backward_weights(c, {src.data(), diff_dst.data(), diff_weights.data(), diff_bias.data()}, threads);
    EXPECT_LE(rms_error(diff_weights, truth), allowed_error(c, rms_error(direct, truth)))
        << threads << " threads";
    EXPECT_LE(rms_error(diff_bias, bias_truth), 1e-5 + rms_error(direct_bias, bias_truth))
        << threads << " threads";
  }
}

// In units of rounding of the largest sum of magnitudes, sum |x| |w|. A tile mixes its outputs, so that the
// largest of all is the measure for each.
struct Errors {
  double rms, largest;
};

// Sources as networks have them, and what sums of their products may err. Interpolation at 0, 1, -1, 2 and -2
// errs by more.
struct Values {
  const char* name;
  float mean;
  bool positive;
  Errors allowed;
};
constexpr Values kSources[] = {{"around zero", 0, false, {1.8, 12}},
                               {"behind a ReLU", 0, true, {1.8, 12}},
                               {"far from zero", 100, false, {0.7, 7}}};

Floats source_of(const Convolution& c, const Values& values) {
  Floats src = random_src(c);
  const ActivationLayout layout = src_layout(c);
  for (int64_t i = 0; i < src.size(); ++i) {
    const int64_t channel = i % layout.batch_stride / layout.block_stride * kLanes + i % kLanes;
    if (channel >= c.in_channels) continue;
    src[i] += values.mean;
    if (values.positive) src[i] = std::max(src[i], 0.0f);
  }
  return src;
}

Floats magnitudes(const Floats& values) {
  Floats result(values.size());
  for (int64_t i = 0; i < values.size(); ++i) result[i] = std::abs(values[i]);
  return result;
}

void expect_errors_within(const Values& source, const Convolution& c, const Floats& values,
                          const std::vector<double>& truth, const std::vector<double>& sums_of_magnitudes) {
  constexpr double kUnit = 0x1p-24;
  const double scale = kUnit * *std::ranges::max_element(sums_of_magnitudes);
  const double transforms = errs_more(c) ? 1.3 : 1;
  double largest = 0;
  for (size_t i = 0; i < truth.size(); ++i)
    largest = std::max(largest, std::abs(values[static_cast<int64_t>(i)] - truth[i]));
  EXPECT_LE(rms_error(values, truth) / scale, source.allowed.rms * transforms) << source.name;
  EXPECT_LE(largest / scale, source.allowed.largest * transforms) << source.name;
}

TEST_P(EveryShape, ForwardErrsWithinItsBounds) {
  const Convolution& c = GetParam().convolution;
  const Floats weights = random_weights(c);
  const Floats u = packed(c, WeightOrder::forward, weights, 2);
  for (const Values& values : kSources) {
    const Floats src = source_of(c, values);
    Floats dst(size_of(c, dst_layout(c)), kUntouched);
    std::vector<double> truth(dst.size()), sums(dst.size());
    const auto sum = [&](const Floats& x, const Floats& w, double* result) {
      forward_reference(c, x.data(), w.data(), nullptr, nullptr, Activation::none, 1, result);
    };
    sum(src, weights, truth.data());
    sum(magnitudes(src), magnitudes(weights), sums.data());
    run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = dst.data()}, 2);
    expect_errors_within(values, c, dst, truth, sums);
  }
}

TEST_P(EveryShape, BackwardWeightsErrWithinTheirBounds) {
  const Convolution& c = GetParam().convolution;
  const Floats diff_dst = random_diff_dst(c);
  const int64_t size = random_weights(c).size();
  for (const Values& values : kSources) {
    const Floats src = source_of(c, values);
    std::vector<double> truth(size), sums(size), bias(c.out_channels);
    backward_weights_reference(c, src.data(), diff_dst.data(), truth.data(), bias.data());
    backward_weights_reference(c, magnitudes(src).data(), magnitudes(diff_dst).data(), sums.data(),
                               bias.data());
    Floats diff_weights(size, kUntouched);
    run_backward_weights(
        c, {.src = src.data(), .diff_dst = diff_dst.data(), .diff_weights = diff_weights.data()}, 2);
    expect_errors_within(values, c, diff_weights, truth, sums);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Winograd, EveryShape,
    testing::Values(
        Case{"whole_tiles", flat(2, 16, 32, 8, 12)}, Case{"one_tile", flat(1, 8, 8, 4, 4)},
        Case{"cut_tiles", flat(3, 16, 16, 7, 7)}, Case{"unequal_cuts", flat(2, 8, 16, 13, 10)},
        Case{"smaller_than_a_tile", flat(5, 24, 16, 3, 2)}, Case{"one_pixel", flat(2, 16, 16, 1, 1)},
        Case{"one_row", flat(1, 16, 16, 1, 23)}, Case{"without_padding", flat(2, 16, 16, 11, 9, 0)},
        Case{"wide_padding", flat(2, 16, 16, 6, 5, 2)}, Case{"channels_12_20", flat(2, 12, 20, 14, 14)},
        Case{"channels_60_36", flat(1, 60, 36, 9, 15)}, Case{"channels_3_5", flat(2, 3, 5, 10, 6)},
        Case{"many_channels", flat(1, 300, 140, 6, 7)}, Case{"wide_output", flat(1, 72, 2100, 4, 2)},
        Case{"many_panels", flat(4, 8, 8, 40, 41)}, Case{"volume", deep(1, 16, 16, {8, 8, 8})},
        Case{"volume_of_odd_extents", deep(2, 12, 20, {5, 7, 6})},
        Case{"volume_without_padding", deep(1, 8, 8, {6, 9, 5}, {0, 0, 0})},
        Case{"volume_padded_unequally", deep(1, 8, 24, {5, 4, 6}, {0, 1, 2})},
        Case{"flat_volume", deep(2, 8, 8, {1, 6, 6})},
        Case{"volume_of_many_channels", deep(1, 60, 36, {4, 5, 6})},
        Case{"three_along_rows", shaped({1, 3}, 2, 16, 24, 5, 11)},
        Case{"three_along_columns", shaped({3, 1}, 2, 12, 20, 11, 5)},
        Case{"three_of_one_pixel", shaped({1, 3}, 3, 8, 8, 1, 1)},
        Case{"five", shaped({5, 5}, 2, 16, 24, 12, 10)},
        Case{"five_of_odd_extents", shaped({5, 5}, 2, 12, 20, 7, 9)},
        Case{"five_of_few_pixels", shaped({5, 5}, 2, 8, 8, 4, 5)},
        Case{"five_without_padding", {1, 8, 16, {1, 5, 5}, {1, 9, 8}}},
        Case{"seven_along_rows", shaped({1, 7}, 2, 16, 24, 3, 20)},
        Case{"seven_along_columns", shaped({7, 1}, 2, 16, 24, 20, 3)},
        Case{"seven_cut_to_one", shaped({1, 7}, 2, 12, 20, 3, 16)},
        Case{"seven_cut_to_two", shaped({7, 1}, 2, 60, 36, 17, 17)},
        Case{"seven_cut_to_three", shaped({1, 7}, 1, 3, 5, 4, 13)},
        Case{"seven_cut_to_four", shaped({7, 1}, 3, 8, 40, 9, 2)},
        Case{"seven_of_few_pixels", shaped({1, 7}, 2, 8, 8, 1, 6)},
        Case{"seven_without_padding", {2, 12, 16, {1, 7, 1}, {1, 15, 6}}},
        Case{"seven_with_wide_padding", {2, 8, 12, {1, 1, 7}, {1, 5, 6}, {0, 0, 6}}},
        Case{"seven_of_many_channels", shaped({1, 7}, 1, 300, 140, 3, 9)},
        Case{"seven_in_many_panels", shaped({7, 1}, 6, 8, 8, 30, 33)}),
    [](const auto& test) { return test.param.name; });

// The largest of each 2x2 of a flat activation.
Floats pooled(const Convolution& c, const Floats& outputs) {
  const ActivationLayout from = dst_layout(c), to = pooled_layout(c);
  const auto [depth, height, width] = to.extents;
  Floats result(size_of(c, to));
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t lane = i % kLanes, x = i / kLanes % width, y = i / kLanes / width % height,
                  channels = i / kLanes / width / height;
    const auto at = [&](int64_t dy, int64_t dx) {
      return outputs[channels * from.block_stride + ((2 * y + dy) * from.extents[2] + 2 * x + dx) * kLanes +
                     lane];
    };
    result[i] = std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)});
  }
  return result;
}

TEST_P(EveryShape, MaxPoolStoresTheLargestOfEachFourOutputs) {
  const Convolution& c = GetParam().convolution;
  const auto extents = pooled_extents(c);
  if (!can_max_pool(c) || extents[1] == 0 || extents[2] == 0) return;  // nothing to pool
  const Floats src = random_src(c), bias = random_floats(c.out_channels, 4);
  const Floats u = packed(c, WeightOrder::forward, random_weights(c), 1);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::elu}) {
    ForwardArguments arguments = {.src = src.data(),
                                  .packed_weights = u.data(),
                                  .bias = bias.data(),
                                  .activation = activation,
                                  .alpha = 0.5f};
    Floats outputs(size_of(c, dst_layout(c)));
    arguments.dst = outputs.data();
    run_forward(c, arguments, 2);
    const Floats expected = pooled(c, outputs);
    Floats maxima(expected.size(), kUntouched);
    arguments.dst = maxima.data();
    arguments.max_pool = true;
    run_forward(c, arguments, 2);
    EXPECT_EQ(std::memcmp(maxima.data(), expected.data(), expected.size() * sizeof(float)), 0)
        << "activation " << static_cast<int>(activation);
  }
}

TEST(Winograd, EluErrsByLittleMoreThanRounding) {
  const Convolution c = flat(1, 1, 1, 1, 4096);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  Floats weights(9), src(size_of(c, src_layout(c)));
  weights[4] = 1;
  for (int64_t i = 0; i < src.size(); i += kLanes) src[i] = static_cast<float>(i - src.size() / 2) / 150;
  const Floats u = packed(c, WeightOrder::forward, weights, 1);
  Floats plain(size_of(c, dst_layout(c))), dst(plain.size());
  ForwardArguments arguments = {.src = src.data(), .packed_weights = u.data(), .dst = plain.data()};
  run_forward(c, arguments, 1);
  arguments.activation = Activation::elu;
  arguments.alpha = 2;
  arguments.dst = dst.data();
  run_forward(c, arguments, 1);
  for (int64_t i = 0; i < dst.size(); i += kLanes) {
    const double x = plain[i], truth = x > 0 ? x : 2 * std::expm1(x);
    ASSERT_NEAR(dst[i], truth, 2.5e-7 * std::abs(truth)) << x;
  }
}

TEST(Winograd, StreamsOutputsLargerThanTheCaches) {
  const Convolution c = flat(2, 8, 64, 264, 256);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
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

TEST(Winograd, WritesZerosIntoChannelsThatFillUpTheLastBlock) {
  const Convolution c = flat(1, 12, 20, 6, 6);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Floats src = random_src(c), bias = random_floats(20, 4);
  const Floats u = packed(c, WeightOrder::forward, random_weights(c), 1);
  const ActivationLayout layout = dst_layout(c);
  Floats dst(size_of(c, layout), kUntouched);
  run_forward(c, {.src = src.data(), .packed_weights = u.data(), .bias = bias.data(), .dst = dst.data()}, 1);
  for (int64_t i = 2 * layout.block_stride; i < dst.size(); ++i) {
    if (i % kLanes < 4) continue;
    ASSERT_EQ(dst[i], 0) << i;
  }
}

TEST(Winograd, ReadsAndWritesSlicesOfWiderTensors) {
  const Convolution dense = flat(3, 16, 8, 9, 9);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const int64_t block = 9 * 9 * kLanes;
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

TEST(Winograd, WeightGradientsAreTheSameEachTime) {
  const Convolution c = flat(3, 16, 24, 30, 30);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Floats src = random_src(c), diff_dst = random_diff_dst(c);
  const int64_t size = random_weights(c).size();
  Floats first(size), again(size);
  run_backward_weights(c, {.src = src.data(), .diff_dst = diff_dst.data(), .diff_weights = first.data()}, 2);
  run_backward_weights(c, {.src = src.data(), .diff_dst = diff_dst.data(), .diff_weights = again.data()}, 2);
  EXPECT_EQ(std::memcmp(first.data(), again.data(), size * sizeof(float)), 0);
}

TEST(Winograd, ForwardDoesNotDependOnTheNumberOfThreads) {
  const Convolution c = flat(2, 16, 24, 22, 19);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Floats src = random_src(c), u = packed(c, WeightOrder::forward, random_weights(c), 1);
  Floats alone(size_of(c, dst_layout(c))), together(alone.size());
  run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = alone.data()}, 1);
  for (const int threads : {2, 3, 16}) {
    run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = together.data()}, threads);
    EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(float)), 0) << threads;
  }
}

// Large enough for its weights to be packed in parts.
TEST(Winograd, PacksPartsOfTheWeightsOnTheWay) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  constexpr int kThreads = 2;
  const Convolution c = deep(2, 221, 725, {5, 4, 6});
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
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), static_cast<size_t>(size) * sizeof(float)), 0);

    Floats masked = random_diff_dst(convolution);
    packing_forward(convolution, order, weights.data(),
                    {.src = src.data(), .mask = masked.data(), .dst = masked.data()}, scratch.data(),
                    kThreads);
    run_forward(convolution, {.src = src.data(), .packed_weights = u.data(), .dst = whole.data()}, kThreads);
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(masked[i], residual[i] > 0 ? whole[i] : 0) << i;
  }
}

// More tiles than one panel takes, channels that fill neither blocks nor slices, and maxima of them.
TEST(Winograd, PacksPartsOfTheWeightsForSeveralPanelsAndMaxima) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  constexpr int kThreads = 3;
  for (const Convolution& c : {deep(1, 205, 421, {9, 25, 27}, {1, 0, 2}), flat(3, 701, 733, 33, 31)}) {
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
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), static_cast<size_t>(size) * sizeof(float)), 0);
  }
}

TEST(Winograd, AddsAResidualInPlace) {
  const Convolution c = flat(2, 16, 16, 10, 10);
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Floats src = random_src(c), residual = random_diff_dst(c);
  const Floats u = packed(c, WeightOrder::forward, random_weights(c), 1);
  Floats apart(residual.size()), in_place = random_diff_dst(c);
  const ForwardArguments arguments = {.src = src.data(), .packed_weights = u.data()};
  ForwardArguments to_apart = arguments, to_itself = arguments;
  to_apart.residual = residual.data(), to_apart.dst = apart.data();
  to_itself.residual = to_itself.dst = in_place.data();
  run_forward(c, to_apart, 2);
  run_forward(c, to_itself, 2);
  EXPECT_EQ(std::memcmp(apart.data(), in_place.data(), apart.size() * sizeof(float)), 0);
}

TEST(Winograd, MasksInPlace) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  for (const Convolution& c : {flat(2, 19, 21, 9, 11), deep(1, 5, 12, {5, 6, 7})}) {
    const Floats src = random_src(c), weights = random_weights(c), mask = random_diff_dst(c);
    const Floats u = packed(c, WeightOrder::forward, weights, 2);
    Floats plain(mask.size(), kUntouched), masked = random_diff_dst(c);
    run_forward(c, {.src = src.data(), .packed_weights = u.data(), .dst = plain.data()}, 2);
    run_forward(
        c, {.src = src.data(), .packed_weights = u.data(), .mask = masked.data(), .dst = masked.data()}, 2);
    for (int64_t i = 0; i < mask.size(); ++i) ASSERT_EQ(masked[i], mask[i] > 0 ? plain[i] : 0) << i;
  }
}

TEST(Winograd, SaysWhyAShapeIsNotSupported) {
  EXPECT_EQ(why_unsupported(flat(1, 8, 8, 9, 9, 3)), "Winograd kernels take less padding than they are wide");
  EXPECT_EQ(why_unsupported(shaped({2, 2}, 1, 8, 8, 9, 9)),
            "Winograd kernels are 3x3, 1x3, 3x1, 5x5, 1x7, 7x1 or 3x3x3");
  EXPECT_EQ(why_unsupported(flat(1, 8, 8, 2, 9, 0)), "the source is smaller than the kernel");
  EXPECT_EQ(why_unsupported(flat(0, 8, 8, 9, 9)), "the batch and the numbers of channels must be positive");
}

}  // namespace
}  // namespace tacho::winograd
