#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/blocked/backward_weights_arguments.h"
#include "kernels/split.h"

namespace tacho::winograd {

// Convolutions of stride 1 by Winograd's minimal filtering, in float. Of the direct sum's multiplications a
// kernel of 3x3 takes a quarter (F(4x4,3x3)) and one of 3x3x3 an eighth, 5x5 takes 0.36 (F(2x2,5x5)), 1x3 and
// 3x1 take half, and 1x7 and 7x1 0.43 (two sums of F(5,4)).
//
// Activations are blocked nC[d]hw8c or nC[d]hw16c: channels in blocks, the last one filled up. Whoever writes
// an activation writes zeros into the channels that fill up its last block; these functions rely on it and do
// it. A batch stride larger than the tensor lets it be a slice of channel blocks of a wider one.
struct Convolution {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0;
  std::array<int, 3> kernel = {1, 3, 3};               // depth, height, width, as all that follow
  std::array<int64_t, 3> extents = {1, 1, 1};          // of the source; depth 1 for images
  std::array<int64_t, 3> padding = {0, 0, 0};          // zeros on both sides of each axis
  int64_t src_batch_stride = 0, dst_batch_stride = 0;  // in floats; 0 for dense tensors
  int64_t lanes = 8;                                   // channels of a block: 8, or with AVX-512 16
};

std::array<int64_t, 3> dst_extents(const Convolution& convolution);

// The convolution that computes the source's gradient from the destination's, with flipped weights.
Convolution backward_data(const Convolution& convolution);

// Why these kernels cannot compute it on this CPU; nothing when they can.
std::optional<std::string> why_unsupported(const Convolution& convolution);

// Whether forward() can store maxima: see ForwardArguments::max_pool.
bool can_max_pool(const Convolution& convolution);

// Weights are plain OI[D]HW. `flipped` packs for backward_data(c), where `convolution` is that one and
// `weights` are those of c: its inputs are the weights' first axis, its outputs the second.
enum class WeightOrder { forward, flipped };

int64_t packed_weights_floats(const Convolution& convolution);
void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads);
Split pack_weights_split(const Convolution& convolution);

enum class Activation { none, relu, elu };

struct ForwardArguments {
  const float* src = nullptr;
  const float* packed_weights = nullptr;
  const float* bias = nullptr;  // one per output channel, or none
  // Laid out as dst, perhaps dst itself, or none. A residual is added before the activation; a mask lets pass
  // the outputs where it is positive, as the gradient of a ReLU does.
  const float *residual = nullptr, *mask = nullptr;
  Activation activation = Activation::none;
  float alpha = 1;        // of ELU
  bool max_pool = false;  // store only the largest of each 2x2 outputs, without residual or mask
  float* dst = nullptr;
};

// Of dst with max_pool: an odd last row or column is left out. ELU then wants alpha >= 0.
std::array<int64_t, 3> pooled_extents(const Convolution& convolution);

// Packed weights and scratch must be aligned to 64 bytes, activations to a block. Nothing is allocated while
// running, and the result does not depend on the number of threads.
int64_t forward_scratch_floats(const Convolution& convolution, int threads);
void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads);
Split forward_split(const Convolution& convolution, int threads);

// forward() with weights as they are, which packs them on the way: a part of the output channels at a time,
// where all of them packed would take much memory. `arguments.packed_weights` is ignored.
int64_t packed_part_floats(const Convolution& convolution);
int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads);
void packing_forward(const Convolution& convolution, WeightOrder order, const float* weights,
                     const ForwardArguments& arguments, float* scratch, int threads);
Split packing_forward_split(const Convolution& convolution, int threads);

using blocked::BackwardWeightsArguments;

// As for forward(), except that sums depend on the number of threads: they are the same from run to run.
int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads);
void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads);
Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads);

}  // namespace tacho::winograd
