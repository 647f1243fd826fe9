#pragma once

#include "kernels/winograd/layout.h"

// From activations to points and back, a block of tiles at a time.
namespace tacho::winograd {

// Transformed tiles: [point][channel block][6 tiles][8].
struct PointsOut {
  float* data;
  int64_t point_stride;
};

void transform_inputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, PointsOut points);

// Products of one block of channels: [point][6 tiles][8].
void transform_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments);

}  // namespace tacho::winograd
