#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "agreement.h"
#include "engine/reference/reference_engine.h"
#include "op_cases.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

constexpr double kStep = 4e-3;
constexpr int kElementsPerTensor = 12;
// Relative to the largest gradient of the tensor; the floor is what rounding to float leaves of a difference.
constexpr double kTolerance = 4e-3, kRoundingFloor = 6e-6;

// The loss in double from the prediction alone: its float value is too coarse to be differenced.
double dice(const Tensor& x, const Tensor& target) {
  const int64_t channels = x.shape()[1], cells = x.size() / (x.shape()[0] * channels);
  std::vector<double> products(static_cast<size_t>(channels)), squares(products);
  for (int64_t i = 0; i < x.size(); ++i) {
    const double value = x.values<float>()[static_cast<size_t>(i)];
    const double wanted = target.values<float>()[static_cast<size_t>(i)];
    const auto channel = static_cast<size_t>(i / cells % channels);
    products[channel] += value * wanted;
    squares[channel] += value * value + wanted * wanted;
  }
  double loss = 0;
  for (size_t c = 0; c < products.size(); ++c) loss -= 2 * products[c] / squares[c];
  return loss;
}

double cross_entropy(const Tensor& logits, const Tensor& labels, double smoothing) {
  const auto classes = static_cast<size_t>(logits.shape()[1]);
  double loss = 0;
  for (size_t n = 0; n < labels.values<int64_t>().size(); ++n) {
    const auto scores = logits.values<float>().subspan(n * classes, classes);
    double sum = 0, mean = 0;
    for (const double score : scores) {
      sum += std::exp(score);
      mean += score / static_cast<double>(classes);
    }
    const double wanted = scores[static_cast<size_t>(labels.values<int64_t>()[n])];
    loss += std::log(sum) - (1 - smoothing) * wanted - smoothing * mean;
  }
  return loss / static_cast<double>(logits.shape()[0]);
}

class FiniteDifference : public testing::TestWithParam<OpCase> {
 protected:
  FiniteDifference()
      : graph_(gradient(GetParam().graph, GetParam().loss, GetParam().gradient_options())),
        material_(make_material(graph_, 3)) {}

  // A fresh plan for each: dropout draws new masks in every pass of one plan.
  double loss() const {
    const auto plan = prepared(reference_engine(), graph_, material_);
    plan->forward();
    const Tensor prediction = plan->read(graph_.outputs[0]);
    return GetParam().loss == Loss::dice
               ? dice(prediction, material_.inputs[1])
               : cross_entropy(prediction, material_.inputs[1], GetParam().label_smoothing);
  }

  double slope(float& element, double step) const {
    const float original = element;
    element = static_cast<float>(original + step);
    const double high_at = element, high = loss();
    element = static_cast<float>(original - step);
    const double low_at = element, low = loss();
    element = original;
    return (high - low) / (high_at - low_at);
  }

  // Compares some elements of `gradients` with differences of the loss along `point`, a tensor of the
  // material.
  void check(const std::string& name, Tensor& point, const Tensor& gradients) {
    const double allowed = kTolerance * largest_magnitude(gradients) + kRoundingFloor;
    std::mt19937 random(5);
    int smooth = 0;
    const int count = static_cast<int>(std::min<int64_t>(kElementsPerTensor, point.size()));
    for (int i = 0; i < count; ++i) {
      const size_t index = random() % static_cast<size_t>(point.size());
      float& element = point.values<float>()[index];
      const double wide = slope(element, kStep), narrow = slope(element, kStep / 2);
      const bool kink = std::abs(wide - narrow) > allowed;
      if (kink) continue;
      ++smooth;
      EXPECT_NEAR(gradients.values<float>()[index], narrow, allowed) << name << " element " << index;
    }
    EXPECT_GE(2 * smooth, count) << name << ": too few places where the loss is smooth";
  }

  Graph graph_;
  Material material_;
};

TEST_P(FiniteDifference, OfTheLossIsTheReferenceGradient) {
  const Outcome outcome = run_training(reference_engine(), graph_, material_, 0);
  EXPECT_NEAR(outcome.at("loss").values<float>()[0], loss(), 1e-5);
  check("input", material_.inputs[0], outcome.at("input gradient"));
  for (const auto& [parameter, unused] : graph_.gradients) {
    const std::string& name = graph_.value(parameter).name;
    check(name, material_.weights.at(name), outcome.at("gradient of " + name));
  }
}

std::vector<OpCase> smooth_cases() {
  std::vector<OpCase> cases = op_cases();
  std::erase_if(cases, [](const OpCase& of) { return of.has_kinks; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, FiniteDifference, testing::ValuesIn(smooth_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tacho::conformance
