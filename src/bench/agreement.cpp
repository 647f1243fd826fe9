#include "bench/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tacho {
namespace {

struct SquaredLengths {
  double difference = 0, truth = 0, other = 0;

  void add(const Tensor& of_truth, const Tensor& of_other) {
    const auto a = of_truth.values<float>(), b = of_other.values<float>();
    for (size_t i = 0; i < a.size(); ++i) {
      const double apart = static_cast<double>(a[i]) - b[i];
      difference += apart * apart;
      truth += static_cast<double>(a[i]) * a[i];
      other += static_cast<double>(b[i]) * b[i];
    }
  }
  double distance() const { return difference == 0 ? 0 : std::sqrt(difference / truth); }
  double change_of_length() const { return difference == 0 ? 0 : std::abs(std::sqrt(other / truth) - 1); }
};

bool is_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.values<float>(), [](float value) { return std::isfinite(value); });
}

PassOutcome one_pass(Plan& plan, const Graph& graph) {
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

// Also where it is not a number.
void require_within(std::string_view what, double distance, double bound) {
  if (distance <= bound) return;
  throw std::runtime_error(
      fmt::format("its {} is not that of the same work computed otherwise: {:.2g} apart, of at most {:.2g}",
                  what, distance, bound));
}

}  // namespace

PassOutcome first_pass(Plan& plan, const Graph& graph, const std::function<bool(bool)>& any) {
  while (true) {
    PassOutcome outcome = one_pass(plan, graph);
    const bool own = !std::ranges::all_of(outcome.gradients, is_finite);
    const bool overflows = any ? any(own) : own;
    if (!overflows || !plan.reduce_loss_scale()) return outcome;
  }
}

// Gradients of networks with random weights have little to hold on to: a ReLU that opens in one computation
// and not in the other moves them far more than rounding alone. In reduced precision those of a deep network
// keep their length and not their direction.
AgreementBounds agreement_bounds(const std::string& precision) {
  constexpr double kAnyDirection = std::numeric_limits<double>::infinity();
  if (precision == kSinglePrecision)
    return {.prediction = 1e-3, .loss = 1e-3, .gradients = 0.1, .gradient_length = 0.1};
  return {.prediction = 0.3, .loss = 0.05, .gradients = kAnyDirection, .gradient_length = 0.5};
}

AgreementBounds looser(const AgreementBounds& a, const AgreementBounds& b) {
  return {std::max(a.prediction, b.prediction), std::max(a.loss, b.loss), std::max(a.gradients, b.gradients),
          std::max(a.gradient_length, b.gradient_length)};
}

void require_agreement(const PassOutcome& truth, const PassOutcome& other, const AgreementBounds& bounds) {
  SquaredLengths prediction, gradients;
  prediction.add(truth.prediction, other.prediction);
  require_within("output", prediction.distance(), bounds.prediction);
  require_within("loss", std::abs(truth.loss - other.loss), bounds.loss * std::abs(truth.loss));
  for (size_t i = 0; i < truth.gradients.size(); ++i) gradients.add(truth.gradients[i], other.gradients[i]);
  require_within("gradient", gradients.distance(), bounds.gradients);
  require_within("gradient's length", gradients.change_of_length(), bounds.gradient_length);
}

}  // namespace tacho
