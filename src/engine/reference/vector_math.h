#pragma once

#include <cstddef>
#include <span>

namespace tacho::reference {

// In four partial sums: one would wait for each addition to finish.
inline double dot(std::span<const float> a, std::span<const double> b) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y += a * x
template<typename T>
void add_scaled(double a, std::span<const T> x, std::span<double> y) {
  for (size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

}  // namespace tacho::reference
