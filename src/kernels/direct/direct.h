#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/blocked/backward_weights_arguments.h"
#include "kernels/split.h"

namespace tacho::direct {

// Convolutions by their definition and their gradients, in float: kernels and strides up to 16, padding
// smaller than the kernel.
//
// Activations are blocked nC[d]hw8c or nC[d]hw16c: channels in blocks, the last one filled up. Whoever writes
// an activation writes zeros into the channels that fill up its last block; these functions rely on it and do
// it. A batch stride larger than the tensor lets it be a slice of channel blocks of a wider one.
struct Convolution {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0;
  std::array<int64_t, 3> kernel = {1, 1, 1};  // depth, height, width, as all that follow
  std::array<int64_t, 3> stride = {1, 1, 1};
  std::array<int64_t, 3> extents = {1, 1, 1};          // of the source; depth 1 for images
  std::array<int64_t, 3> padding = {0, 0, 0};          // zeros on both sides of each axis
  int64_t src_batch_stride = 0, dst_batch_stride = 0;  // in floats; 0 for dense tensors
  int64_t lanes = 8;                                   // channels of a block: 8, or with AVX-512 16
};

std::array<int64_t, 3> dst_extents(const Convolution& convolution);

// Why these kernels cannot compute it on this CPU; nothing when they can.
std::optional<std::string> why_unsupported(const Convolution& convolution);

// Forward every place of the destination gathers what it needs of the source; backward every place of the
// source gathers the gradients of the destination that depend on it.
enum class Direction { forward, backward };

// Weights are plain OI[D]HW.
int64_t packed_weights_floats(const Convolution& convolution, Direction direction);
void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads);
Split pack_weights_split(const Convolution& convolution, Direction direction);

struct GatherArguments {
  const float* read = nullptr;  // the source; backward the gradient of the destination
  const float* packed_weights = nullptr;
  const float* bias = nullptr;      // one per channel that is written, or none
  const float* residual = nullptr;  // laid out as what is written, added before the rest; may be that itself
  const float* mask = nullptr;      // laid out as what is written, which is 0 where this is not above 0
  bool relu = false;
  float* written = nullptr;
};

// Packed weights and scratch must be aligned to 64 bytes, activations to a block. Nothing is allocated while
// running, and the result does not depend on the number of threads.
int64_t gather_scratch_floats(const Convolution& convolution, Direction direction, int threads);
void gather(const Convolution& convolution, Direction direction, const GatherArguments& arguments,
            float* scratch, int threads);
Split gather_split(const Convolution& convolution, Direction direction, int threads);

using blocked::BackwardWeightsArguments;

// Sums are added up in an order that depends on nothing but the convolution and the number of threads.
int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads);
void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads);
Split backward_weights_split(const Convolution& convolution, bool with_bias, int threads);

}  // namespace tacho::direct
