#include "kernels/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace tacho {
namespace {

using Values = std::vector<float>;

Values random_floats(size_t count, uint64_t seed, float deviation) {
  Values values(count);
  Random(seed).fill_normal(values, 0, deviation);
  return values;
}

struct Case {
  const char* name;
  UpdateRule rule;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class EveryRule : public testing::TestWithParam<Case> {};

TEST_P(EveryRule, AgreesWithTheReferenceOverSeveralStepsAndOddSizes) {
  const UpdateRule& rule = GetParam().rule;
  for (const size_t count : {0, 1, 3, 17, 1001, 40'003}) {
    Values fast = random_floats(count, 1, 0.1f), plain = fast;
    Values fast_state(count * static_cast<size_t>(state_per_parameter(rule))), plain_state = fast_state;
    for (int64_t step = 1; step <= 5; ++step) {
      const Values gradients = random_floats(count, 10 + static_cast<uint64_t>(step), 1);
      apply_update(rule, step, fast, gradients, fast_state.data(), static_cast<int64_t>(count));
      apply_update_reference(rule, step, plain, gradients, plain_state);
    }
    for (size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(fast[i], plain[i], 1e-6f * (1 + std::abs(plain[i]))) << i << " of " << count;
    }
    for (size_t i = 0; i < fast_state.size(); ++i) {
      ASSERT_NEAR(fast_state[i], plain_state[i], 2e-6f * (1 + std::abs(plain_state[i])))
          << i << " of " << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizer, EveryRule,
                         testing::Values(Case{"sgd", Sgd{}}, Case{"sgd_plain", Sgd{0.1, 0, 0, false}},
                                         Case{"sgd_decay_only", Sgd{0.1, 0, 0.3, false}},
                                         Case{"sgd_nesterov", Sgd{0.1, 0.8, 0.2, true}}, Case{"adam", Adam{}},
                                         Case{"adam_decay", Adam{1e-2, 0.8, 0.95, 1e-3, 0.1}}),
                         [](const auto& test) { return test.param.name; });

// With exact binary fractions two steps can be followed by hand: p = 1, g = 0.5 both times.
float after_two_steps(const Sgd& rule) {
  Values parameter = {1}, state(static_cast<size_t>(state_per_parameter(rule)));
  const Values gradient = {0.5f};
  apply_update_reference(rule, 1, parameter, gradient, state);
  apply_update_reference(rule, 2, parameter, gradient, state);
  return parameter[0];
}

TEST(OptimizerReference, DescendsAlongTheGradientWithoutMomentum) {
  EXPECT_EQ(after_two_steps({0.25, 0, 0, false}), 0.75f);
}

TEST(OptimizerReference, AddsWeightDecayToTheGradient) {
  // 1 - 0.25 * (0.5 + 0.5 * 1) = 0.75; 0.75 - 0.25 * (0.5 + 0.5 * 0.75) = 0.53125
  EXPECT_EQ(after_two_steps({0.25, 0, 0.5, false}), 0.53125f);
}

TEST(OptimizerReference, CarriesMomentumFromStepToStep) {
  // v = 0.5, p = 0.875; v = 0.5 * 0.5 + 0.5 = 0.75, p = 0.6875
  EXPECT_EQ(after_two_steps({0.25, 0.5, 0, false}), 0.6875f);
}

TEST(OptimizerReference, LooksAheadWithNesterov) {
  // v = 0.5, p = 1 - 0.25 * (0.5 + 0.25) = 0.8125; v = 0.75, p = 0.8125 - 0.25 * (0.5 + 0.375) = 0.59375
  EXPECT_EQ(after_two_steps({0.25, 0.5, 0, true}), 0.59375f);
}

TEST(OptimizerReference, MovesByTheLearningRateInAdamsFirstStep) {
  Values parameters = {1, 1}, state(4);
  apply_update_reference(Adam{0.125, 0.5, 0.75, 0, 0}, 1, parameters, Values{0.5f, -4}, state);
  EXPECT_EQ(parameters, (Values{0.875f, 1.125f}));
  EXPECT_EQ(state, (Values{0.25f, -2, 0.0625f, 4}));
}

TEST(OptimizerReference, CorrectsAdamsBiasByTheStepNumber) {
  // Step 2 with g = 1 after m = 0.5, s = 0.5: m = 0.75 / (1 - 0.5^2) = 1, s = 0.75 / (1 - 0.5^2) = 1
  Values parameters = {1}, state = {0.5f, 0.5f};
  apply_update_reference(Adam{0.125, 0.5, 0.5, 1, 0}, 2, parameters, Values{1}, state);
  EXPECT_EQ(parameters[0], 1 - 0.0625f);
}

TEST(Optimizer, NeedsNoStateWithoutMomentum) {
  EXPECT_EQ(state_per_parameter(Sgd{0.1, 0, 0, false}), 0);
  EXPECT_EQ(state_per_parameter(Sgd{}), 1);
  EXPECT_EQ(state_per_parameter(Adam{}), 2);
}

}  // namespace
}  // namespace tacho
