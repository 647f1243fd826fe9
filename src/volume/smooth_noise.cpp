#include "volume/smooth_noise.h"

#include <cmath>
#include <vector>

#include "volume/place.h"

namespace tacho {
namespace {

// Where a voxel is among the nodes: the first of the four that count, and their weights.
struct Position {
  int64_t first = 0;
  std::array<float, 4> weights = {};
};

Position position_of(int64_t voxel, float spacing) {
  const float at = static_cast<float>(voxel) / spacing, cell = std::floor(at);
  const float t = at - cell, u = 1 - t;
  return {static_cast<int64_t>(cell) - 1,
          {u * u * u / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * u * u + 3 * u * u * u) / 6,
           t * t * t / 6}};
}

}  // namespace

void SmoothNoise::add_row(const Point& begin, float deviation, std::span<float> row) const {
  const Position z = position_of(begin[0], spacing_[0]), y = position_of(begin[1], spacing_[1]);
  const auto length = static_cast<int64_t>(row.size());
  const int64_t first = position_of(begin[2], spacing_[2]).first;
  const int64_t last = position_of(begin[2] + length - 1, spacing_[2]).first + 3;

  std::vector<float> nodes(static_cast<size_t>(last - first + 1));
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t k = 0; k < 4; ++k) {
      for (size_t j = 0; j < 4; ++j) {
        const Point node = {z.first + static_cast<int64_t>(k), y.first + static_cast<int64_t>(j),
                            first + static_cast<int64_t>(i)};
        nodes[i] += z.weights[k] * y.weights[j] * (2 * random_.uniform(number_of(node)) - 1);
      }
    }
  }
  for (int64_t i = 0; i < length; ++i) {
    const Position x = position_of(begin[2] + i, spacing_[2]);
    const float* of = &nodes[static_cast<size_t>(x.first - first)];
    const float value =
        x.weights[0] * of[0] + x.weights[1] * of[1] + x.weights[2] * of[2] + x.weights[3] * of[3];
    row[static_cast<size_t>(i)] += kMost * deviation * value;
  }
}

}  // namespace tacho
