#pragma once

#include <cstdint>
#include <span>

#include "volume/neurons.h"

namespace tacho {

// Made-up brain tissue as an electron microscope shows it. A voxel is a function of seed, shape and place:
// parts may be made in any order, by any thread.
class Tissue {
 public:
  Tissue(const Point& shape, uint64_t seed);

  // The image of a box inside the volume, and the number of each voxel's neuron.
  void fill(const Box& box, std::span<uint8_t> image, std::span<uint64_t> neuron_ids) const;

 private:
  void add_texture(const NeuronMap& map, std::span<float> image) const;

  Random random_;
  Neurons neurons_;
};

}  // namespace tacho
