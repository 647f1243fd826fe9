#pragma once

#include <cstdint>
#include <span>

#include "volume/box.h"

namespace tacho {

// Whether a voxel belongs to the same object as the one before it, along z, y and x: 1 where both have the
// same label and it is not 0, which is nobody's, otherwise 0. `labels` begin one voxel before the window
// along every axis; `affinities` are three windows of `size`.
void find_affinities(std::span<const uint64_t> labels, const Point& size, std::span<float> affinities);

}  // namespace tacho
