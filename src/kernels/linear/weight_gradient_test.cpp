#include "kernels/linear/weight_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/cpu.h"
#include "base/random.h"
#include "kernels/linear/linear_reference.h"

namespace tacho::linear {
namespace {

struct Sizes {
  int64_t batch, rows, columns;
};

class EveryGradient : public testing::TestWithParam<Sizes> {
 protected:
  static constexpr float kUntouched = 77;
  static constexpr int64_t kBeyond = 3;  // of the rows and columns that are computed

  void SetUp() override {
    if (widest_instruction_set() < InstructionSet::avx2) GTEST_SKIP() << "no AVX2 here";
    Random(1).fill_normal(of_rows_, 0, 1);
    Random(2).fill_normal(of_columns_, 0, 1);
  }

  WeightGradient task(float* gradient) const {
    const auto [batch, rows, columns] = GetParam();
    return {batch,   rows, columns, of_rows_.data(), rows + kBeyond, of_columns_.data(), columns + kBeyond,
            gradient};
  }
  static void compute(const WeightGradient& task, int threads) {
    std::vector<float> scratch(static_cast<size_t>(weight_gradient_scratch_floats(task.batch, threads)));
    weight_gradient(task, scratch.data(), threads);
  }
  std::vector<float> run(int threads) const {
    std::vector<float> gradient(result_floats_ + kBeyond, kUntouched);
    compute(task(gradient.data()), threads);
    return gradient;
  }

  static size_t floats(int64_t images, int64_t each) { return static_cast<size_t>(images * each); }
  size_t result_floats_ = floats(GetParam().rows, GetParam().columns);
  std::vector<float> of_rows_ = std::vector<float>(floats(GetParam().batch, GetParam().rows + kBeyond));
  std::vector<float> of_columns_ = std::vector<float>(floats(GetParam().batch, GetParam().columns + kBeyond));
};

TEST_P(EveryGradient, ErrsNoMoreThanASumInFloat) {
  std::vector<double> truth(result_floats_);
  weight_gradient_reference(task(nullptr), truth.data());
  const std::vector<float> gradient = run(2);
  for (size_t i = 0; i < result_floats_; ++i) {
    const double bound = 1e-7 * static_cast<double>(GetParam().batch) * (4 + std::abs(truth[i]));
    ASSERT_NEAR(gradient[i], truth[i], bound) << i;
  }
  for (size_t i = result_floats_; i < gradient.size(); ++i) EXPECT_EQ(gradient[i], kUntouched);
}

TEST_P(EveryGradient, DoesNotDependOnTheNumberOfThreadsNorOnTheOtherRows) {
  const std::vector<float> alone = run(1);
  for (const int threads : {2, 3, 9}) EXPECT_EQ(run(threads), alone) << threads;
  std::vector<float> by_rows(alone.size(), kUntouched);
  for (int64_t row = 0; row < GetParam().rows; ++row) {
    WeightGradient one = task(by_rows.data() + row * GetParam().columns);
    one.of_rows += row;
    one.rows = 1;
    compute(one, 1);
  }
  EXPECT_EQ(by_rows, alone);
}

INSTANTIATE_TEST_SUITE_P(Linear, EveryGradient,
                         testing::Values(Sizes{1, 1, 1}, Sizes{2, 5, 7}, Sizes{16, 4, 24}, Sizes{3, 67, 33},
                                         Sizes{16, 130, 1001}, Sizes{5, 3, 481}, Sizes{700, 31, 53},
                                         Sizes{3, 245, 530}),
                         [](const auto& test) {
                           const Sizes& sizes = test.param;
                           return std::to_string(sizes.batch) + "_" + std::to_string(sizes.rows) + "_" +
                                  std::to_string(sizes.columns);
                         });

}  // namespace
}  // namespace tacho::linear
