#include "volume/pad.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace tacho {
namespace {

// First and last position seen in [begin, end).
std::pair<int64_t, int64_t> seen(int64_t begin, int64_t end, int64_t extent) {
  // A whole turn shows everything.
  if (end - begin >= 2 * extent) return {0, extent - 1};
  int64_t first = extent - 1, last = 0;
  for (int64_t position = begin; position < end; ++position) {
    first = std::min(first, mirrored(position, extent));
    last = std::max(last, mirrored(position, extent));
  }
  return {first, last};
}

size_t offset(const Box& box, int64_t z, int64_t y, int64_t x) {
  const Point size = box.size();
  return static_cast<size_t>(((z - box.begin[0]) * size[1] + y - box.begin[1]) * size[2] + x - box.begin[2]);
}

}  // namespace

int64_t mirrored(int64_t position, int64_t extent) {
  if (extent == 1) return 0;
  const int64_t turn = 2 * (extent - 1);
  const int64_t within = (position % turn + turn) % turn;
  return std::min(within, turn - within);
}

Box source_box(const Box& wanted, const Point& volume) {
  Box box;
  for (size_t axis = 0; axis < volume.size(); ++axis) {
    const auto [first, last] = seen(wanted.begin[axis], wanted.end[axis], volume[axis]);
    box.begin[axis] = first;
    box.end[axis] = last + 1;
  }
  return box;
}

void mirror_into(const Box& wanted, const Point& volume, const Box& source, std::span<const float> from,
                 std::span<float> to) {
  assert(std::ssize(from) >= voxels(source) && std::ssize(to) >= voxels(wanted));
  const int64_t inside_begin = std::clamp<int64_t>(0, wanted.begin[2], wanted.end[2]);
  const int64_t inside_end = std::clamp(volume[2], inside_begin, wanted.end[2]);
  float* out = to.data();
  for (int64_t z = wanted.begin[0]; z < wanted.end[0]; ++z) {
    for (int64_t y = wanted.begin[1]; y < wanted.end[1]; ++y) {
      const float* row =
          from.data() + offset(source, mirrored(z, volume[0]), mirrored(y, volume[1]), source.begin[2]);
      const auto voxel = [&](int64_t x) { return row[mirrored(x, volume[2]) - source.begin[2]]; };
      for (int64_t x = wanted.begin[2]; x < inside_begin; ++x) *out++ = voxel(x);
      if (inside_begin < inside_end)
        out = std::copy_n(row + inside_begin - source.begin[2], inside_end - inside_begin, out);
      for (int64_t x = inside_end; x < wanted.end[2]; ++x) *out++ = voxel(x);
    }
  }
}

void copy_part(const Box& part, const Box& source, std::span<const float> from, const Box& target,
               std::span<float> to) {
  assert(std::ssize(from) >= voxels(source) && std::ssize(to) >= voxels(target));
  if (voxels(part) == 0) return;
  for (int64_t z = part.begin[0]; z < part.end[0]; ++z) {
    for (int64_t y = part.begin[1]; y < part.end[1]; ++y) {
      std::copy_n(from.data() + offset(source, z, y, part.begin[2]), part.size()[2],
                  to.data() + offset(target, z, y, part.begin[2]));
    }
  }
}

void place_into(const Box& wanted, const Box& source, std::span<const float> from, std::span<float> to) {
  const Box both = intersection(wanted, source);
  if (both != wanted) std::ranges::fill(to.first(static_cast<size_t>(voxels(wanted))), 0.0F);
  copy_part(both, source, from, wanted, to);
}

}  // namespace tacho
