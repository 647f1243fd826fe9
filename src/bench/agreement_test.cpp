#include "bench/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/idle_plan.h"

namespace tacho {
namespace {

Tensor of(std::array<float, 3> values) { return Tensor::from<float>({3}, values); }

PassOutcome outcome() {
  PassOutcome made = {of({1, 2, 2}), 4};
  made.gradients.push_back(of({1, 0, 0}));
  made.gradients.push_back(of({0, 3, 4}));
  return made;
}

constexpr AgreementBounds kBounds = {
    .prediction = 0.01, .loss = 0.01, .gradients = 0.1, .gradient_length = 0.05};

TEST(Agreement, HoldsWithinTheBounds) {
  PassOutcome other = outcome();
  other.prediction.values<float>()[0] += 0.029f;  // of a length of 3
  other.loss += 0.039;
  other.gradients[0].values<float>()[1] += 0.5f;  // of a length of 5.1
  EXPECT_NO_THROW(require_agreement(outcome(), other, kBounds));
}

TEST(Agreement, EndsWhereAnythingLiesFurtherApart) {
  PassOutcome prediction = outcome(), loss = outcome(), gradients = outcome();
  prediction.prediction.values<float>()[0] += 0.031f;
  loss.loss -= 0.041;
  gradients.gradients[0].values<float>()[1] += 0.52f;
  for (const PassOutcome* other : {&prediction, &loss, &gradients})
    EXPECT_THROW(require_agreement(outcome(), *other, kBounds), std::runtime_error);
}

// Turned by some degrees, and not turned but longer.
TEST(Agreement, TellsDirectionFromLength) {
  PassOutcome turned = outcome(), longer = outcome();
  turned.gradients[0].values<float>()[0] = -1;
  for (float& value : longer.gradients[1].values<float>()) value *= 1.06f;
  const AgreementBounds any_direction = {1, 1, 10, 0.05}, any_length = {1, 1, 10, 10};
  EXPECT_THROW(require_agreement(outcome(), turned, kBounds), std::runtime_error);
  EXPECT_NO_THROW(require_agreement(outcome(), turned, any_direction));
  EXPECT_THROW(require_agreement(outcome(), longer, any_direction), std::runtime_error);
  EXPECT_NO_THROW(require_agreement(outcome(), longer, any_length));
}

TEST(Agreement, EndsWithWhatIsNotANumber) {
  PassOutcome other = outcome();
  other.gradients[1].values<float>()[2] = std::nanf("");
  EXPECT_THROW(require_agreement(outcome(), other, kBounds), std::runtime_error);
  other = outcome();
  other.loss = std::nan("");
  EXPECT_THROW(require_agreement(outcome(), other, kBounds), std::runtime_error);
}

TEST(Agreement, LeavesReducedPrecisionMoreRoom) {
  const AgreementBounds exact = agreement_bounds(std::string(kSinglePrecision)),
                        reduced = agreement_bounds("bf16");
  EXPECT_LT(exact.prediction, reduced.prediction);
  EXPECT_LT(exact.gradients, reduced.gradients);
  EXPECT_EQ(looser(exact, reduced).loss, reduced.loss);
}

// Gradients of a plan whose loss is scaled by 8 overflow until it is scaled by 2.
class OverflowingPlan final : public IdlePlan {
 public:
  Tensor read(ValueId value) const override {
    const bool overflows = value == kGradient && scale_ > smallest_;
    return of({overflows ? HUGE_VALF : 1, 0, 0});
  }
  void forward() override { ++passes_; }
  bool trains() const override { return true; }
  bool reduce_loss_scale() override {
    if (scale_ == 1) return false;
    scale_ /= 2;
    return true;
  }

  static constexpr ValueId kGradient = ValueId(2);
  int scale_ = 8, smallest_ = 2, passes_ = 0;
};

Graph training_graph() {
  Graph graph;
  graph.training = true;
  graph.outputs = {ValueId(0), ValueId(1)};
  graph.gradients = {{ValueId(0), OverflowingPlan::kGradient}};
  return graph;
}

TEST(FirstPass, IsRepeatedWithASmallerScaleWhileGradientsOverflow) {
  OverflowingPlan plan;
  const PassOutcome found = first_pass(plan, training_graph());
  EXPECT_EQ(found.gradients.at(0).values<float>()[0], 1);
  EXPECT_EQ(plan.scale_, 2);
  EXPECT_EQ(plan.passes_, 3);
}

TEST(FirstPass, IsGivenUpWhereTheScaleCannotBeSmaller) {
  OverflowingPlan plan;
  plan.smallest_ = 0;
  EXPECT_TRUE(std::isinf(first_pass(plan, training_graph()).gradients.at(0).values<float>()[0]));
  EXPECT_EQ(plan.passes_, 4);
}

TEST(FirstPass, IsRepeatedByAllDevicesWhereOneOverflows) {
  OverflowingPlan plan;
  plan.smallest_ = 8;
  int asked = 0;
  first_pass(plan, training_graph(), [&](bool own) { return own || ++asked == 1; });
  EXPECT_EQ(plan.scale_, 4);
}

}  // namespace
}  // namespace tacho
