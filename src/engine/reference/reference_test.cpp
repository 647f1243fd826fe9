// Semantics that are easy to get wrong, against figures from PyTorch 1.13.
#include <gtest/gtest.h>

#include "engine/reference/activations.h"
#include "engine/reference/convolution.h"
#include "engine/reference/losses.h"
#include "engine/reference/normalization.h"
#include "engine/reference/pooling.h"
#include "engine/reference/shape_ops.h"

namespace tacho::reference {
namespace {

using Values = std::vector<float>;

Tensor tensor(Shape shape, const Values& values) { return Tensor::from<float>(std::move(shape), values); }

// Small numbers without order: -2.5, 1, -1, 2.5, 0.5, ...
Tensor scattered(Shape shape) {
  Tensor result(std::move(shape), DType::f32);
  for (int i = 0; i < result.size(); ++i) {
    result.values<float>()[static_cast<size_t>(i)] = static_cast<float>(7 * i % 11 - 5) / 2;
  }
  return result;
}

// -1.5, -0.5, 0.5, 1.5, 2.5 over and over.
Tensor output_gradient(Shape shape) {
  Tensor result(std::move(shape), DType::f32);
  for (int i = 0; i < result.size(); ++i) {
    result.values<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 5) - 1.5f;
  }
  return result;
}

void expect_values(const Tensor& actual, const Values& expected) {
  ASSERT_EQ(static_cast<size_t>(actual.size()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual.values<float>()[i], expected[i], 2e-6) << i;
}

TEST(ReferenceMaxPool, PadsAndRoundsUpAsPyTorchDoes) {
  const MaxPool op{
      .kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true, .training = true};
  const Tensor x = scattered({1, 1, 5, 6}), dy = output_gradient({1, 1, 3, 3});
  Tensor y(dy.shape(), DType::f32), argmax(dy.shape(), DType::u8), dx(x.shape(), DType::f32);
  max_pool(op, x, y, &argmax);
  expect_values(y, {2, 2.5, -1.5, 2, 2.5, 2, 0, 1.5, 1});
  max_pool_backward(op, argmax, dy, dx);
  expect_values(dx, {0, 0, 0,     -0.5f, 0, 0.5f, 0, 0, 0,    0, 0, 0, 0, 0, 2.5f,
                     0, 0, -1.5f, -0.5f, 0, 0.5f, 0, 0, 1.5f, 0, 0, 0, 0, 0, 0});
}

TEST(ReferenceMaxPool, NeverLetsPaddingWin) {
  const MaxPool op{.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}};
  const Tensor x = tensor({1, 1, 2, 2}, {-1, -2, -3, -4});
  Tensor y({1, 1, 2, 2}, DType::f32);
  max_pool(op, x, y, nullptr);
  expect_values(y, {-1, -2, -3, -4});
}

struct AveragePoolExpectation {
  bool count_padding;
  Values y, dx;
};

class ReferenceAveragePool : public testing::TestWithParam<AveragePoolExpectation> {};

TEST_P(ReferenceAveragePool, DividesByTheCellsThatPyTorchCounts) {
  const AveragePool op{.kernel = {3, 3},
                       .stride = {2, 2},
                       .padding = {1, 1},
                       .ceil_mode = true,
                       .count_padding = GetParam().count_padding};
  const Tensor x = scattered({1, 1, 4, 5}), dy = output_gradient({1, 1, 3, 3});
  Tensor y(dy.shape(), DType::f32), dx(x.shape(), DType::f32);
  average_pool(op, x, y);
  expect_values(y, GetParam().y);
  average_pool_backward(op, dy, dx);
  expect_values(dx, GetParam().dx);
}

INSTANTIATE_TEST_SUITE_P(
    CeilMode, ReferenceAveragePool,
    testing::Values(AveragePoolExpectation{true,
                                           {-0.111111f, 0.277778f, 0.277778f, -0.388889f, -0.222222f,
                                            -0.111111f, -0.166667f, 0.083333f, -0.333333f},
                                           {-0.166667f, -0.222222f, -0.055556f, 0,         0.055556f,
                                            0,          0.222222f,  0.222222f,  0.111111f, -0.111111f,
                                            0.166667f,  0.444444f,  0.277778f,  0.111111f, -0.166667f,
                                            0.083333f,  0.444444f,  0.361111f,  0.444444f, 0.083333f}},
                    AveragePoolExpectation{
                        false,
                        {-0.25f, 0.416667f, 0.625f, -0.583333f, -0.222222f, -0.166667f, -0.5f, 0.166667f, -1},
                        {-0.375f,   -0.458333f, -0.083333f, 0.041667f, 0.125f,    -0.125f,   0.069444f,
                         0.194444f, 0.069444f,  -0.125f,    0.25f,     0.527778f, 0.277778f, 0.027778f,
                         -0.25f,    0,          0.444444f,  0.444444f, 0.944444f, 0.5f}}));

TEST(ReferenceAdaptivePool, OverlapsCellsWhereTheSizesDoNotDivide) {
  const Tensor x = scattered({1, 1, 5, 3}), dy = output_gradient({1, 1, 2, 2});
  Tensor y(dy.shape(), DType::f32), dx(x.shape(), DType::f32);
  adaptive_average_pool(x, y);
  expect_values(y, {0.583333f, -0.5f, 0.5f, -0.583333f});
  adaptive_average_pool_backward(dy, dx);
  expect_values(dx, {-0.25f, -0.333333f, -0.083333f, -0.25f, -0.333333f, -0.083333f, -0.166667f, 0, 0.166667f,
                     0.083333f, 0.333333f, 0.25f, 0.083333f, 0.333333f, 0.25f});
}

TEST(ReferenceBatchNorm, NormalisesWithTheBiasedAndKeepsTheUnbiasedVariance) {
  const Tensor x = scattered({2, 2, 1, 3}), dy = output_gradient(x.shape());
  const Tensor weight = tensor({2}, {1.5, -0.5}), bias = tensor({2}, {0.25, 1});
  Tensor running_mean = tensor({2}, {0.5, -1}), running_var = tensor({2}, {2, 0.25});
  Tensor y(x.shape(), DType::f32), mean({2}, DType::f32), inverse_deviation({2}, DType::f32);
  batch_norm_training({.training = true}, x, weight, bias, running_mean, running_var, y, mean,
                      inverse_deviation);
  expect_values(y, {-1.712836f, 1.584728f, -0.299594f, 0.268076f, 0.853615f, 1.439154f, 2.526889f, 0.642567f,
                    -1.241755f, 0.560846f, 1.146385f, 1.731924f});
  expect_values(running_mean, {0.408333f, -0.9f});
  expect_values(running_var, {2.104167f, 0.575f});

  Tensor dx(x.shape(), DType::f32), dweight({2}, DType::f32), dbias({2}, DType::f32);
  batch_norm_backward(x, weight, mean, inverse_deviation, dy, dx, dweight, dbias);
  expect_values(dx, {-1.57457f, -0.361377f, 0.425909f, 0.250943f, -0.476796f, 0.259311f, -0.28394f, 0.503346f,
                     1.290632f, -0.259311f, 0.476796f, -0.250943f});
  expect_values(dweight, {-0.785134f, 7.612008f});
  expect_values(dbias, {0, 3});
}

TEST(ReferenceConvolution, AppliesGroupsDilationStrideAndPaddingTogether) {
  const Convolution op{.stride = {2, 1}, .padding = {1, 1}, .dilation = {2, 2}, .groups = 2};
  const Tensor x = scattered({1, 4, 5, 4}), weight = scattered({2, 2, 2, 2}), bias = tensor({2}, {0.5, -1});
  const Tensor dy = output_gradient({1, 2, 3, 4});
  Tensor y(dy.shape(), DType::f32), dx(x.shape(), DType::f32);
  convolution(op, x, weight, &bias, y);
  expect_values(y, {-3.25f, 3,     7,     -0.5f,  -7.25f, 4.25f,  5,    -4.75f, 3.25f, -1.25f, 3.75f,  -5.25f,
                    -3.75f, 5.25f, -8.5f, -6.75f, -2.75f, 12.75f, 5.5f, -6.25f, 1.25f, 6.25f,  -9.25f, -2});
  convolution_backward_data(op, dy, weight, dx);
  expect_values(
      dx,
      {0, 0, 0, 0, 4.25f,  -0.5f,  -5.5f,  0.75f,  0, 0, 0, 0, -4.75f, 12,     -0.5f,  -2.75f, 0, 0, 0, 0,
       0, 0, 0, 0, -1.75f, -3,     5.5f,   0.75f,  0, 0, 0, 0, -1.75f, -4,     -3,     2.25f,  0, 0, 0, 0,
       0, 0, 0, 0, -1.75f, -6.25f, -7.25f, -4,     0, 0, 0, 0, 0.75f,  -2.75f, -6.25f, -3,     0, 0, 0, 0,
       0, 0, 0, 0, 4.25f,  8.5f,   -1,     -0.25f, 0, 0, 0, 0, 0.75f,  5.5f,   8.5f,   0.25f,  0, 0, 0, 0});

  Tensor dweight(weight.shape(), DType::f32), dbias({2}, DType::f32);
  convolution_backward_weights(op, x, dy, dweight, &dbias);
  expect_values(dweight, {3.75f, -2.75f, 2.25f, -5.25f, 2.5f, 6.5f, 5, -12, -1.25f, -0.5f, 0.25f, 0.5f,
                          -10.25f, 2.25f, 0.75f, -0.25f});
  expect_values(dbias, {3, 7});
}

TEST(ReferenceUpsample, SumsTheGradientOfEachRepeatedCell) {
  const Tensor dy = output_gradient({1, 1, 4, 9});
  Tensor dx({1, 1, 2, 3}, DType::f32);
  upsample_backward({.scale = {2, 3}}, dy, dx);
  expect_values(dx, {-1, 7, 0, 7, 0, 3});
}

TEST(ReferenceElu, DerivesFromItsOutput) {
  const Tensor x = scattered({1, 6}), dy = output_gradient(x.shape());
  Tensor y(x.shape(), DType::f32), dx(x.shape(), DType::f32);
  elu({.alpha = 0.5}, x, y);
  expect_values(y, {-0.458957f, 1, -0.31606f, 2.5f, 0.5f, -0.388435f});
  elu_backward({.alpha = 0.5}, y, dy, dx);
  expect_values(dx, {-0.061564f, -0.5f, 0.09197f, 1.5f, 2.5f, -0.167348f});
}

TEST(ReferenceCrossEntropy, IsTheMeanOverImages) {
  const Tensor logits = scattered({2, 4});
  const Tensor labels = Tensor::from<int64_t>({2}, std::vector<int64_t>{2, 0});
  Tensor loss(Shape{}, DType::f32), probabilities(logits.shape(), DType::f32),
      dlogits(logits.shape(), DType::f32);
  softmax_cross_entropy(0, logits, labels, loss, probabilities);
  expect_values(loss, {2.779752f});
  softmax_cross_entropy_backward(0, probabilities, labels, dlogits);
  expect_values(dlogits,
                {0.002674f, 0.088539f, -0.488018f, 0.396805f, -0.41966f, 0.010873f, 0.360059f, 0.048729f});
}

TEST(ReferenceDice, IsFlatWhereTheDenominatorIsAtItsFloor) {
  const Tensor x = tensor({1, 1, 2}, {1e-5f, 0}), target = tensor({1, 1, 2}, {0, 1e-5f});
  Tensor loss(Shape{}, DType::f32), sums({2, 1}, DType::f32), dx(x.shape(), DType::f32);
  dice_loss(x, target, loss, sums);
  expect_values(sums, {0, static_cast<float>(kDiceFloor)});
  dice_loss_backward(x, target, sums, dx);
  EXPECT_EQ(dx.values<float>()[0], 0);
  EXPECT_NEAR(dx.values<float>()[1], -20, 1e-4);
}

}  // namespace
}  // namespace tacho::reference
