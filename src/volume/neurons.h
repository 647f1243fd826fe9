#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "volume/place.h"
#include "volume/smooth_noise.h"

namespace tacho {

// The neurons in a box: for each voxel the number of its own, and how far its membrane is, in voxels along x.
// Membranes that lie flat in a section count as nearer: the section shows all of its thickness.
struct NeuronMap {
  Box box;
  std::vector<uint64_t> ids;
  std::vector<float> membrane;
};

// Made-up neurons that fill a volume: irregular, elongated, of different sizes. A function of seed and place.
class Neurons {
 public:
  Neurons(const Point& shape, const Random& random);

  NeuronMap map(const Box& box) const;

 private:
  struct Seed;
  class SeedTable;

  uint64_t id_of(const Point& node) const;
  void map_row(const Point& begin, const SeedTable& seeds, std::span<uint64_t> ids,
               std::span<float> membrane) const;

  Point nodes_;  // of the neurons' lattice
  Random seeds_, centres_;
  std::array<SmoothNoise, 3> bends_, ripples_;  // along z, y and x
};

}  // namespace tacho
