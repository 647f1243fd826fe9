#pragma once

#include <span>

#include "base/random.h"
#include "volume/neurons.h"

namespace tacho {

// Draws the mitochondria and clusters of vesicles that reach into the map's box into its image: each inside
// one neuron. A function of the random numbers and the place.
void draw_organelles(const Neurons& neurons, const Random& random, const NeuronMap& map,
                     std::span<float> image);

}  // namespace tacho
