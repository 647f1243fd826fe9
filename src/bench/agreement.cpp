#include "bench/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tacho {
namespace {

struct SquaredLengths {
  double difference = 0, truth = 0;

  void add(const Tensor& of_truth, const Tensor& of_other) {
    const auto a = of_truth.values<float>(), b = of_other.values<float>();
    for (size_t i = 0; i < a.size(); ++i) {
      const double apart = static_cast<double>(a[i]) - b[i];
      difference += apart * apart;
      truth += static_cast<double>(a[i]) * a[i];
    }
  }
  double relative() const { return difference == 0 ? 0 : std::sqrt(difference / truth); }
};

// Also where it is not a number.
void require_within(std::string_view what, double distance, double bound) {
  if (distance <= bound) return;
  throw std::runtime_error(
      fmt::format("its {} is not that of the same work computed otherwise: {:.2g} apart, of at most {:.2g}",
                  what, distance, bound));
}

}  // namespace

PassOutcome first_pass(Plan& plan, const Graph& graph) {
  const PlanCounters before = plan.counters();
  plan.forward();
  PassOutcome outcome = {plan.read(graph.outputs[0])};
  if (!graph.training) return outcome;
  outcome.loss = plan.read(graph.outputs[1]).values<float>()[0];
  plan.backward();
  for (const ParameterGradient& pair : graph.gradients) outcome.gradients.push_back(plan.read(pair.gradient));
  plan.set_counters(before);
  return outcome;
}

AgreementBounds agreement_bounds(const std::string& precision) {
  if (precision == kSinglePrecision) return {.prediction = 1e-3, .loss = 1e-3, .gradients = 2e-2};
  return {.prediction = 5e-2, .loss = 2e-2, .gradients = 0.3};
}

AgreementBounds looser(const AgreementBounds& a, const AgreementBounds& b) {
  return {std::max(a.prediction, b.prediction), std::max(a.loss, b.loss), std::max(a.gradients, b.gradients)};
}

void require_agreement(const PassOutcome& truth, const PassOutcome& other, const AgreementBounds& bounds) {
  SquaredLengths prediction, gradients;
  prediction.add(truth.prediction, other.prediction);
  require_within("output", prediction.relative(), bounds.prediction);
  require_within("loss", std::abs(truth.loss - other.loss), bounds.loss * std::abs(truth.loss));
  for (size_t i = 0; i < truth.gradients.size(); ++i) gradients.add(truth.gradients[i], other.gradients[i]);
  require_within("gradient", gradients.relative(), bounds.gradients);
}

}  // namespace tacho
