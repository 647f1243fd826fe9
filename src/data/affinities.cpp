#include "data/affinities.h"

#include <array>
#include <cassert>

namespace tacho {
namespace {

void compare_rows(const uint64_t* row, const uint64_t* before, int64_t width, float* out) {
  for (int64_t x = 0; x < width; ++x) out[x] = (row[x] == before[x]) & (row[x] != 0) ? 1.0f : 0.0f;
}

}  // namespace

void find_affinities(std::span<const uint64_t> labels, const Point& size, std::span<float> affinities) {
  const auto [depth, height, width] = size;
  const int64_t row = width + 1, slice = row * (height + 1);
  assert(static_cast<int64_t>(labels.size()) == slice * (depth + 1));
  assert(static_cast<int64_t>(affinities.size()) == 3 * voxels(size));
  float* out = affinities.data();
  for (const int64_t before : std::array{slice, row, int64_t{1}}) {
    for (int64_t z = 1; z <= depth; ++z) {
      for (int64_t y = 1; y <= height; ++y, out += width) {
        const uint64_t* here = labels.data() + z * slice + y * row + 1;
        compare_rows(here, here - before, width, out);
      }
    }
  }
}

}  // namespace tacho
