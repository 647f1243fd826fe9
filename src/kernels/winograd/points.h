#pragma once

#include <array>

namespace tacho::winograd {

// F(r,3) makes r outputs of r + 2 inputs by interpolation at r + 2 points. They are numbered infinity, 0, a,
// -a, b, -b, so that a tile with r < 4 outputs at the edge of an image needs just the first r + 2 of them,
// with the same transformed weights. These a and b keep rounding errors near those of a direct sum; 1 and 2
// do not.
inline constexpr int kTile = 4;
inline constexpr int kMinTile = 2;  // F(1,3) would save nothing and round worse
inline constexpr int kPoints = kTile + 2;
inline constexpr double kA = 0.625, kB = 1.5;
inline constexpr std::array<double, kPoints> kFinitePoints = {0 /* unused: infinity */, 0, kA, -kA, kB, -kB};

template<int rows, int columns>
using Matrix = std::array<std::array<float, columns>, rows>;

template<int rows, int columns>
constexpr Matrix<columns, rows> transpose(const Matrix<rows, columns>& matrix) {
  Matrix<columns, rows> result{};
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) result[column][row] = matrix[row][column];
  }
  return result;
}

// prod (x_point - x_other) over the other finite points of F(4,3).
constexpr double denominator(int point) {
  double product = 1;
  for (int other = 1; other < kPoints; ++other) {
    if (other != point) product *= kFinitePoints[point] - kFinitePoints[other];
  }
  return product;
}

// Weights to points: the kernel's polynomial at each point, divided by that point's denominator.
constexpr Matrix<kPoints, 3> weight_transform() {
  Matrix<kPoints, 3> matrix{};
  matrix[0][2] = 1;
  for (int point = 1; point < kPoints; ++point) {
    const double x = kFinitePoints[point], scale = 1 / denominator(point);
    matrix[point] = {static_cast<float>(scale), static_cast<float>(x * scale),
                     static_cast<float>(x * x * scale)};
  }
  return matrix;
}

// Inputs to points: coefficients of prod (x - x_other) over the other finite points of F(outputs,3). A
// smaller F's denominators lack the factors of its missing points, which is made good here.
template<int outputs>
constexpr Matrix<outputs + 2, outputs + 2> input_transform() {
  constexpr int kUsed = outputs + 2;
  Matrix<kUsed, kUsed> matrix{};
  for (int point = 0; point < kUsed; ++point) {
    std::array<double, kUsed + 1> polynomial{1};
    int degree = 0;
    double scale = 1;
    for (int other = 1; other < kPoints; ++other) {
      if (other == point) continue;
      if (other >= kUsed) {
        if (point != 0) scale *= kFinitePoints[point] - kFinitePoints[other];
        continue;
      }
      for (int power = ++degree; power > 0; --power) {
        polynomial[power] = polynomial[power - 1] - kFinitePoints[other] * polynomial[power];
      }
      polynomial[0] *= -kFinitePoints[other];
    }
    for (int power = 0; power <= degree; ++power)
      matrix[point][power] = static_cast<float>(scale * polynomial[power]);
  }
  return matrix;
}

// Points to outputs: powers of each point.
template<int outputs>
constexpr Matrix<outputs, outputs + 2> output_transform() {
  Matrix<outputs, outputs + 2> matrix{};
  for (int point = 1; point < outputs + 2; ++point) {
    double power = 1;
    for (int row = 0; row < outputs; ++row, power *= kFinitePoints[point])
      matrix[row][point] = static_cast<float>(power);
  }
  matrix[outputs - 1][0] = 1;
  return matrix;
}

}  // namespace tacho::winograd
