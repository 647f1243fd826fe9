#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engine/engines.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "kernels/blocked/blocked.h"
#include "models/initialize.h"

namespace tacho {
namespace {

// One device, which notes how many numbers it is asked to add up.
class Counter final : public SumOverDevices {
 public:
  int devices() const override { return 1; }
  void sum(std::span<double> values) override { counts.push_back(values.size()); }

  std::vector<size_t> counts;
};

Graph two_norms() {
  Builder builder("two norms");
  ValueId x = builder.input("x", {2, 3, 5, 4});
  x = builder.convolution("conv", builder.relu("relu", builder.batch_norm("first", x)),
                          {.channels = 11, .kernel = {3, 3}});
  return builder.finish(builder.batch_norm("second", x));
}

Graph norm_of_a_line() {
  Builder builder("line");
  return builder.finish(builder.batch_norm("norm", builder.input("x", {4, 6, 5})));
}

std::unique_ptr<Plan> compiled(const std::string& engine, const Graph& graph, SumOverDevices* sums) {
  return find_engine(engine).compile(graph, initialize(graph, 0), {.batch_norm_sums = sums});
}

class BatchNormSums : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "native" && !blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  }
  Counter counter_;
};

TEST_P(BatchNormSums, AreTakenOnceInEachDirectionOfTwoNumbersAChannel) {
  const auto plan = compiled(GetParam(), gradient(two_norms(), Loss::dice), &counter_);
  plan->forward();
  EXPECT_EQ(counter_.counts, (std::vector<size_t>{6, 22}));
  counter_.counts.clear();
  plan->backward();
  EXPECT_EQ(counter_.counts, (std::vector<size_t>{22, 6}));
}

TEST_P(BatchNormSums, AreNotTakenInInference) {
  compiled(GetParam(), two_norms(), &counter_)->forward();
  EXPECT_TRUE(counter_.counts.empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, BatchNormSums, testing::Values("native", "reference"),
                         [](const auto& test) { return test.param; });

TEST(NativeBatchNorm, HasNoStepsForOtherDevicesWhereThereAreNone) {
  const auto steps_of = [](SumOverDevices* sums) {
    const StepList list = compiled("native", gradient(two_norms(), Loss::dice), sums)->steps();
    return std::ranges::count(list.steps, "sum_over_devices", &StepInfo::kernel);
  };
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  Counter counter;
  EXPECT_EQ(steps_of(nullptr), 0);
  EXPECT_EQ(steps_of(&counter), 4);
}

TEST(NativeBatchNorm, RefusesToSumOverDevicesWhatIsNoImage) {
  const Graph graph = gradient(norm_of_a_line(), Loss::dice);
  Counter counter;
  EXPECT_NO_THROW(compiled("native", graph, nullptr));
  try {
    compiled("native", graph, &counter);
    FAIL();
  } catch (const UserError& error) {
    const char* reason = blocked::supported() ? "not for 4x6x5" : "needs AVX2";
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tacho
