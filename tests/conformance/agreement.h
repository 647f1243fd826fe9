#pragma once

#include <gtest/gtest.h>

#include "base/tensor.h"

namespace tacho::conformance {

double largest_magnitude(const Tensor& tensor);

// Whether no element differs by more than `tolerance` times the largest magnitude in `truth`.
testing::AssertionResult agrees(const Tensor& truth, const Tensor& other, double tolerance);

// The same, relative to `magnitude`, for all but a few elements (one, or one in twenty): those of a ReLU
// whose input is rounding noise, open on one engine and shut on the other, or of a pooling that picks a
// neighbour.
testing::AssertionResult mostly_agrees(const Tensor& truth, const Tensor& other, double tolerance,
                                       double magnitude);

}  // namespace tacho::conformance
