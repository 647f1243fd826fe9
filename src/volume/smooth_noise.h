#pragma once

#include <array>
#include <span>

#include "base/random.h"
#include "volume/box.h"

namespace tacho {

// Random values on a lattice, joined by cubic B-splines: smooth, and a function of the voxel alone.
class SmoothNoise {
 public:
  // `spacing`: of the lattice, in voxels along z, y and x.
  SmoothNoise(const Random& random, const std::array<float, 3>& spacing)
      : random_(random), spacing_(spacing) {}

  // Adds noise of about this standard deviation to the voxels of a row that begins at `begin`.
  void add_row(const Point& begin, float deviation, std::span<float> row) const;

  // How far from 0 a value with deviation 1 can be.
  static constexpr float kMost = 5.2f;

 private:
  Random random_;
  std::array<float, 3> spacing_;
};

}  // namespace tacho
