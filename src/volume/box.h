#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tacho {

inline constexpr size_t kAxes = 3;

// A position or an extent along depth, height and width: z, y, x.
using Point = std::array<int64_t, kAxes>;

// Voxels from `begin` up to, but without, `end`. Either may lie outside the volume.
struct Box {
  Point begin = {}, end = {};

  Point size() const { return {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}; }
  bool operator==(const Box&) const = default;
};

int64_t voxels(const Point& size);
inline int64_t voxels(const Box& box) { return voxels(box.size()); }
inline Box whole(const Point& size) { return {{}, size}; }

// What both hold; of size 0 along an axis along which they do not meet.
Box intersection(const Box& a, const Box& b);

// "40x216x216".
std::string to_string(const Point& size);

}  // namespace tacho
