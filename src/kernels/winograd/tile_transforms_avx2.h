#pragma once

#include "kernels/winograd/layout.h"

// From activations to points and back, for one block of channels of a block of tiles.
namespace tacho::winograd {

// Transformed tiles are [point][tile][8], with this much from one point to the next.
struct Points {
  float* data;
  int64_t stride;
};

void inputs_to_points(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, Points points);

// The transpose of points_to_outputs(), for gradients of the destination.
void gradients_to_points(const Convolution& convolution, const ActivationLayout& layout,
                         const TileBlock& block, const float* diff_dst, int64_t channel_block, Points points);

// `products` are [point][6 tiles][8], `layout` is that of what is stored: with max_pool, the maxima.
// `streamed` stores past the caches, for flat convolutions; it wants rows of whole cache lines.
void points_to_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments,
                       bool streamed);

}  // namespace tacho::winograd
