#include "data/elastic.h"

#include <array>

namespace tacho {
namespace {

// What the four grid points around a place weigh; they add up to 1.
struct Spline {
  size_t first;
  std::array<float, 4> weights;
};

std::vector<Spline> splines(int64_t pixels) {
  std::vector<Spline> result;
  for (int64_t i = 0; i < pixels; ++i) {
    const float t = static_cast<float>(i % ElasticField::kSpacing) / ElasticField::kSpacing, s = 1 - t;
    result.push_back({static_cast<size_t>(i / ElasticField::kSpacing),
                      {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
                       (3 * s * s * s - 6 * s * s + 4) / 6, t * t * t / 6}});
  }
  return result;
}

std::vector<float> smooth_plane(int64_t height, int64_t width, const Random& random) {
  const std::vector<Spline> rows = splines(height), columns = splines(width);
  const size_t grid_width = columns.back().first + 4;
  std::vector<float> grid((rows.back().first + 4) * grid_width);
  random.fill_uniform(grid, -ElasticField::kLongest, ElasticField::kLongest);
  std::vector<float> plane, line(grid_width);
  plane.reserve(rows.size() * columns.size());
  for (const Spline& row : rows) {
    for (size_t i = 0; i < grid_width; ++i) {
      line[i] = 0;
      for (size_t k = 0; k < 4; ++k) line[i] += row.weights[k] * grid[(row.first + k) * grid_width + i];
    }
    for (const Spline& column : columns) {
      float value = 0;
      for (size_t k = 0; k < 4; ++k) value += column.weights[k] * line[column.first + k];
      plane.push_back(value);
    }
  }
  return plane;
}

}  // namespace

ElasticField::ElasticField(int64_t height, int64_t width, const Random& random)
    : along_y_(smooth_plane(height, width, random.stream("y"))),
      along_x_(smooth_plane(height, width, random.stream("x"))) {}

}  // namespace tacho
