#include "kernels/winograd/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/test_lanes.h"
#include "kernels/winograd/reference.h"
#include "kernels/winograd/test_convolutions.h"

namespace tacho::winograd {
namespace {

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

class EveryShape : public OnBlocks<Case> {
 protected:
  void SetUp() override {
    OnBlocks::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(why_unsupported(convolution_), std::nullopt);
  }

  const Convolution convolution_ = on_blocks(std::get<1>(GetParam()).convolution);
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
  const Convolution& c = convolution_;
  const Floats src = random_src(c), weights = random_weights(c), bias = random_floats(c.out_channels, 4),
               residual = random_diff_dst(c);
  const int64_t size = size_of(c, dst_layout(c));
  std::vector<double> truth(size);
  std::vector<float> direct(size);
  forward_reference(c, src.data(), weights.data(), bias.data(), residual.data(), Activation::relu, 1,
                    truth.data());
  forward_reference(c, src.data(), weights.data(), bias.data(), residual.data(), Activation::relu, 1,
                    direct.data());
  for (const int threads : {1, 2, 3, 7}) {
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
  const Convolution& c = convolution_;
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
  const Convolution& c = convolution_;
  const Floats src = random_src(c), diff_dst = random_diff_dst(c);
  const int64_t size = random_weights(c).size();
  std::vector<double> truth(size), bias_truth(c.out_channels);
  std::vector<float> direct(size), direct_bias(c.out_channels);
  backward_weights_reference(c, src.data(), diff_dst.data(), truth.data(), bias_truth.data());
  backward_weights_reference(c, src.data(), diff_dst.data(), direct.data(), direct_bias.data());
  for (const int threads : {1, 2, 3, 7}) {
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
    const int64_t channel = i % layout.batch_stride / layout.block_stride * layout.lanes + i % layout.lanes;
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
  const Convolution& c = convolution_;
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
  const Convolution& c = convolution_;
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

const Case kCases[] = {
    {"whole_tiles", flat(2, 16, 32, 8, 12)},
    {"one_tile", flat(1, 8, 8, 4, 4)},
    {"cut_tiles", flat(3, 16, 16, 7, 7)},
    {"unequal_cuts", flat(2, 8, 16, 13, 10)},
    {"smaller_than_a_tile", flat(5, 24, 16, 3, 2)},
    {"one_pixel", flat(2, 16, 16, 1, 1)},
    {"one_row", flat(1, 16, 16, 1, 23)},
    {"without_padding", flat(2, 16, 16, 11, 9, 0)},
    {"wide_padding", flat(2, 16, 16, 6, 5, 2)},
    {"channels_12_20", flat(2, 12, 20, 14, 14)},
    {"channels_60_36", flat(1, 60, 36, 9, 15)},
    {"channels_3_5", flat(2, 3, 5, 10, 6)},
    {"many_channels", flat(1, 300, 140, 6, 7)},
    {"wide_output", flat(1, 72, 2100, 4, 2)},
    {"many_panels", flat(4, 8, 8, 40, 41)},
    {"volume", deep(1, 16, 16, {8, 8, 8})},
    {"volume_of_odd_extents", deep(2, 12, 20, {5, 7, 6})},
    {"volume_without_padding", deep(1, 8, 8, {6, 9, 5}, {0, 0, 0})},
    {"volume_padded_unequally", deep(1, 8, 24, {5, 4, 6}, {0, 1, 2})},
    {"flat_volume", deep(2, 8, 8, {1, 6, 6})},
    {"volume_of_many_channels", deep(1, 60, 36, {4, 5, 6})},
    {"volume_of_many_slices", deep(1, 12, 150, {5, 6, 7})},
    {"three_along_rows", shaped({1, 3}, 2, 16, 24, 5, 11)},
    {"three_along_columns", shaped({3, 1}, 2, 12, 20, 11, 5)},
    {"three_of_one_pixel", shaped({1, 3}, 3, 8, 8, 1, 1)},
    {"five", shaped({5, 5}, 2, 16, 24, 12, 10)},
    {"five_of_odd_extents", shaped({5, 5}, 2, 12, 20, 7, 9)},
    {"five_of_few_pixels", shaped({5, 5}, 2, 8, 8, 4, 5)},
    {"five_of_many_channels", shaped({5, 5}, 1, 60, 150, 6, 7)},
    {"five_without_padding", {1, 8, 16, {1, 5, 5}, {1, 9, 8}}},
    {"seven_along_rows", shaped({1, 7}, 2, 16, 24, 3, 20)},
    {"seven_along_columns", shaped({7, 1}, 2, 16, 24, 20, 3)},
    {"seven_cut_to_one", shaped({1, 7}, 2, 12, 20, 3, 16)},
    {"seven_cut_to_two", shaped({7, 1}, 2, 60, 36, 17, 17)},
    {"seven_cut_to_three", shaped({1, 7}, 1, 3, 5, 4, 13)},
    {"seven_cut_to_four", shaped({7, 1}, 3, 8, 40, 9, 2)},
    {"seven_of_few_pixels", shaped({1, 7}, 2, 8, 8, 1, 6)},
    {"seven_without_padding", {2, 12, 16, {1, 7, 1}, {1, 15, 6}}},
    {"seven_with_wide_padding", {2, 8, 12, {1, 1, 7}, {1, 5, 6}, {0, 0, 6}}},
    {"seven_of_many_channels", shaped({1, 7}, 1, 300, 140, 3, 9)},
    {"seven_in_many_panels", shaped({7, 1}, 6, 8, 8, 30, 33)},
};

INSTANTIATE_TEST_SUITE_P(Winograd, EveryShape, with_all_lanes(testing::ValuesIn(kCases)),
                         [](const auto& test) {
                           return std::get<1>(test.param).name + ("_" + lanes_name(test));
                         });

// The largest of each 2x2 of a flat activation.
Floats pooled(const Convolution& c, const Floats& outputs) {
  const ActivationLayout from = dst_layout(c), to = pooled_layout(c);
  const auto [depth, height, width] = to.extents;
  Floats result(size_of(c, to));
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t lane = i % to.lanes, x = i / to.lanes % width, y = i / to.lanes / width % height,
                  channels = i / to.lanes / width / height;
    const auto at = [&](int64_t dy, int64_t dx) {
      return outputs[channels * from.block_stride +
                     ((2 * y + dy) * from.extents[2] + 2 * x + dx) * from.lanes + lane];
    };
    result[i] = std::max({at(0, 0), at(0, 1), at(1, 0), at(1, 1)});
  }
  return result;
}

TEST_P(EveryShape, MaxPoolStoresTheLargestOfEachFourOutputs) {
  const Convolution& c = convolution_;
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
    EXPECT_TRUE(same(maxima, expected)) << "activation " << static_cast<int>(activation);
  }
}

}  // namespace
}  // namespace tacho::winograd
