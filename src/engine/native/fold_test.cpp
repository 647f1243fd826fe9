#include "engine/native/fold.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tacho::native {
namespace {

Tensor vector_of(std::vector<float> values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(Fold, FoldedConvolutionEqualsConvolutionThenNorm) {
  const ScaleShift norm =
      scale_shift(vector_of({2, 3}), vector_of({0.5, -1}), vector_of({1, -2}), vector_of({4, 0.25}), 0.0);
  const std::vector<float> weights = {1, 2, 3, 4};
  const Tensor weight = fold_weight(Tensor::from<float>({2, 2}, weights), norm);
  const Tensor bias_before = vector_of({10, 20});
  const Tensor bias = fold_bias(&bias_before, norm);
  for (size_t c = 0; c < 2; ++c) {
    const float convolved =
        weights[2 * c] * 0.3f + weights[2 * c + 1] * 0.7f + bias_before.values<float>()[c];
    const float expected = c == 0 ? 2 * (convolved - 1) / 2 + 0.5f : 3 * (convolved + 2) / 0.5f - 1;
    const float folded = weight.values<float>()[2 * c] * 0.3f + weight.values<float>()[2 * c + 1] * 0.7f +
                         bias.values<float>()[c];
    EXPECT_NEAR(folded, expected, 1e-4);
  }
}

TEST(Fold, AConvolutionWithoutBiasGetsTheShift) {
  const ScaleShift norm = scale_shift(vector_of({1}), vector_of({7}), vector_of({3}), vector_of({1}), 0.0);
  EXPECT_FLOAT_EQ(fold_bias(nullptr, norm).values<float>()[0], 4);
}

}  // namespace
}  // namespace tacho::native
