#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/split.h"

namespace tacho::linear {

// Fully connected layers for small batches, in float: the weights, by far the most of the traffic, are read
// from memory once for all images.
struct Layer {
  int64_t batch = 1, inputs = 0, outputs = 0;
};

// Why this kernel cannot compute it on this CPU; nothing when it can.
std::optional<std::string> why_unsupported(const Layer& layer);

// From plain [output][input] to [output / 16][input][16].
int64_t packed_weights_floats(const Layer& layer);
void pack_weights(const Layer& layer, const float* weights, float* packed, int threads);
Split pack_weights_split(const Layer& layer);

struct Arguments {
  const float* src = nullptr;  // [batch][input]
  const float* packed_weights = nullptr;
  const float* bias = nullptr;  // one per output, or none
  bool relu = false;
  float* dst = nullptr;  // [batch][output]
};

// Packed weights and scratch must be aligned to 64 bytes. Nothing is allocated while running, and the result
// does not depend on the number of threads.
int64_t scratch_floats(const Layer& layer, int threads);
void forward(const Layer& layer, const Arguments& arguments, float* scratch, int threads);
Split forward_split(const Layer& layer);

}  // namespace tacho::linear
