#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "volume/box.h"

namespace tacho {

// A place in made-up tissue, in voxels along x. A section is as far from the next as several of them.
struct Place {
  float z = 0, y = 0, x = 0;

  Place operator-(const Place& other) const { return {z - other.z, y - other.y, x - other.x}; }
  float dot(const Place& other) const { return z * other.z + y * other.y + x * other.x; }
};

inline constexpr float kSection = 5;

inline Place place_of(const Point& voxel) {
  return {kSection * static_cast<float>(voxel[0]), static_cast<float>(voxel[1]),
          static_cast<float>(voxel[2])};
}

// Tells the nodes of a lattice apart; the lattice may begin at negative indices.
inline uint64_t number_of(const Point& node) {
  const auto part = [&](int axis) { return static_cast<uint64_t>(node[axis] + (1 << 19)) & 0x1fffff; };
  return part(0) << 42 | part(1) << 21 | part(2);
}

// The nodes of a lattice of cubes whose cubes come nearer to the voxels of a box than `margin`.
inline Box nodes_around(const Box& box, float spacing, float margin) {
  const Place first = place_of(box.begin), end = place_of(box.end);
  const auto low = [&](float at) { return static_cast<int64_t>(std::floor((at - margin) / spacing)); };
  const auto high = [&](float at) { return static_cast<int64_t>(std::floor((at + margin) / spacing)) + 1; };
  return {{low(first.z), low(first.y), low(first.x)}, {high(end.z), high(end.y), high(end.x)}};
}

// Somewhere in the node's cube, drawn from the first three numbers of `random`; `jitter` of 0 is its middle.
inline Place place_in(const Point& node, float spacing, float jitter, const Random& random) {
  const auto at = [&](int axis) {
    const float off_middle = jitter * (random.uniform(static_cast<uint64_t>(axis)) - 0.5f);
    return spacing * (static_cast<float>(node[axis]) + 0.5f + off_middle);
  };
  return {at(0), at(1), at(2)};
}

// Of length 1, drawn from three numbers of `random` from `index` on.
inline Place direction_from(const Random& random, uint64_t index) {
  const Place drawn = {random.normal(index), random.normal(index + 1), random.normal(index + 2)};
  const float scale = 1 / std::sqrt(drawn.dot(drawn) + 1e-12f);
  return {scale * drawn.z, scale * drawn.y, scale * drawn.x};
}

template<typename Action>
void for_each_node(const Box& nodes, const Action& action) {
  for (int64_t z = nodes.begin[0]; z < nodes.end[0]; ++z) {
    for (int64_t y = nodes.begin[1]; y < nodes.end[1]; ++y) {
      for (int64_t x = nodes.begin[2]; x < nodes.end[2]; ++x) action(Point{z, y, x});
    }
  }
}

}  // namespace tacho
