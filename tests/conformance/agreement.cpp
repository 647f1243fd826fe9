#include "agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tacho::conformance {
namespace {

// What rounding leaves of a gradient that is zero, such as that of a bias ahead of a batch norm.
constexpr double kNoise = 1e-7;

double largest_difference(const Tensor& truth, const Tensor& other) {
  const auto a = truth.values<float>(), b = other.values<float>();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.values<float>()) largest = std::max<double>(largest, std::abs(value));
  return largest;
}

testing::AssertionResult agrees(const Tensor& truth, const Tensor& other, double tolerance) {
  const double difference = largest_difference(truth, other), magnitude = largest_magnitude(truth);
  if (difference <= tolerance * magnitude + kNoise) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "differs by " << difference << " where the largest is " << magnitude
                                     << ", that is by " << difference / magnitude;
}

testing::AssertionResult mostly_agrees(const Tensor& truth, const Tensor& other, double tolerance,
                                       double magnitude) {
  const auto a = truth.values<float>(), b = other.values<float>();
  int64_t outliers = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(difference <= tolerance * magnitude + kNoise)) ++outliers;
  }
  if (outliers <= 1 + truth.size() / 20) return testing::AssertionSuccess();
  return testing::AssertionFailure() << outliers << " of " << truth.size() << " elements differ, by up to "
                                     << largest_difference(truth, other) / magnitude << " of the largest";
}

}  // namespace tacho::conformance
