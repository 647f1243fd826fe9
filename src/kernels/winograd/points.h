#pragma once

#include <array>

namespace tacho::winograd {

inline constexpr int kMaxPoints = 8;

// Winograd's minimal filtering along one axis. F(tile,taps) makes `tile` outputs of tile + taps - 1 inputs by
// interpolation at as many points; a kernel with more taps is a sum of `segments` of that many.
//
// Points are numbered infinity, 0, a, -a, b, -b and so on, so that a tile with fewer outputs at the edge of
// an image needs just the first outputs + taps - 1 of them, with the same transformed weights.
struct Scheme {
  int kernel, tile, taps;
  int min_tile;  // outputs that a cut tile computes at least: fewer would save nothing and round worse
  std::array<double, kMaxPoints> points;  // the first stands for infinity

  constexpr int points_for(int outputs) const { return outputs + taps - 1; }
  constexpr int all_points() const { return points_for(tile); }
  constexpr int segments() const { return (kernel + taps - 1) / taps; }
  // Whether the last segment lacks its last tap, whose weight alone the point at infinity has.
  constexpr bool lacks_infinity(int segment) const { return (segment + 1) * taps > kernel; }
};

namespace {  // each file has its own copy: see instruction_set_test.py

// These points keep rounding errors near those of a direct sum. For 3 and 5 taps, 1 and 2 would not.
constexpr std::array<Scheme, 4> kSchemes = {{
    {.kernel = 1, .tile = 1, .taps = 1, .min_tile = 1, .points = {}},
    {.kernel = 3, .tile = 4, .taps = 3, .min_tile = 2, .points = {0, 0, 0.625, -0.625, 1.5, -1.5}},
    {.kernel = 5, .tile = 2, .taps = 5, .min_tile = 2, .points = {0, 0, 0.625, -0.625, 1.5, -1.5}},
    {.kernel = 7, .tile = 5, .taps = 4, .min_tile = 2, .points = {0, 0, 0.5, -0.5, 1, -1, 2, -2}},
}};
static_assert(kSchemes[3].lacks_infinity(1) && !kSchemes[3].lacks_infinity(0));

constexpr const Scheme& scheme_of(int kernel) { return kSchemes[static_cast<size_t>(kernel / 2)]; }

template<int kernel>
constexpr const Scheme& kScheme = scheme_of(kernel);

}  // namespace

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

// prod (x_point - x_other) over the other finite points.
constexpr double denominator(const Scheme& scheme, int point) {
  double product = 1;
  for (int other = 1; other < scheme.all_points(); ++other) {
    if (other != point) product *= scheme.points[point] - scheme.points[other];
  }
  return product;
}

// Weights to points: the polynomial of a segment's taps at each point, divided by that point's denominator.
template<int kernel>
constexpr Matrix<kScheme<kernel>.all_points(), kScheme<kernel>.taps> weight_transform() {
  constexpr Scheme kOf = kScheme<kernel>;
  Matrix<kOf.all_points(), kOf.taps> matrix{};
  matrix[0][kOf.taps - 1] = 1;
  for (int point = 1; point < kOf.all_points(); ++point) {
    double power = 1 / denominator(kOf, point);
    for (int tap = 0; tap < kOf.taps; ++tap, power *= kOf.points[point])
      matrix[point][tap] = static_cast<float>(power);
  }
  return matrix;
}

// Inputs to points: coefficients of prod (x - x_other) over the other finite points that are used. A smaller
// F's denominators lack the factors of its missing points, which is made good here.
template<int kernel, int outputs>
constexpr Matrix<kScheme<kernel>.points_for(outputs), kScheme<kernel>.points_for(outputs)> input_transform() {
  constexpr Scheme kOf = kScheme<kernel>;
  constexpr int kUsed = kOf.points_for(outputs);
  Matrix<kUsed, kUsed> matrix{};
  for (int point = 0; point < kUsed; ++point) {
    std::array<double, kUsed + 1> polynomial{1};
    int degree = 0;
    double scale = 1;
    for (int other = 1; other < kOf.all_points(); ++other) {
      if (other == point) continue;
      if (other >= kUsed) {
        if (point != 0) scale *= kOf.points[point] - kOf.points[other];
        continue;
      }
      for (int power = ++degree; power > 0; --power) {
        polynomial[power] = polynomial[power - 1] - kOf.points[other] * polynomial[power];
      }
      polynomial[0] *= -kOf.points[other];
    }
    for (int power = 0; power <= degree; ++power)
      matrix[point][power] = static_cast<float>(scale * polynomial[power]);
  }
  return matrix;
}

// Points to outputs: powers of each point.
template<int kernel, int outputs>
constexpr Matrix<outputs, kScheme<kernel>.points_for(outputs)> output_transform() {
  constexpr Scheme kOf = kScheme<kernel>;
  Matrix<outputs, kOf.points_for(outputs)> matrix{};
  for (int point = 1; point < kOf.points_for(outputs); ++point) {
    double power = 1;
    for (int row = 0; row < outputs; ++row, power *= kOf.points[point])
      matrix[row][point] = static_cast<float>(power);
  }
  matrix[outputs - 1][0] = 1;
  return matrix;
}

}  // namespace tacho::winograd
