#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tacho::winograd {

// Convolutions with a 3x3 or 3x3x3 kernel and stride 1 by Winograd's minimal filtering, F(4x4,3x3) or
// F(4x4x4,3x3x3): a quarter (an eighth) of the multiplications of the direct sum, in float.
//
// Activations are blocked nC[d]hw8c: channels in blocks of 8, the last one filled up. Whoever writes an
// activation writes zeros into the channels that fill up its last block; these functions rely on it and do
// it. A batch stride larger than the tensor lets it be a slice of channel blocks of a wider one.
struct Convolution {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0;
  int kernel_depth = 1;                        // 1: 3x3; 3: 3x3x3
  std::array<int64_t, 3> extents = {1, 1, 1};  // of the source: depth, height, width; depth 1 for 3x3
  std::array<int64_t, 3> padding = {0, 0, 0};  // zeros on both sides of each axis; none in depth for 3x3
  int64_t src_batch_stride = 0, dst_batch_stride = 0;  // in floats; 0 for dense tensors
};

std::array<int64_t, 3> dst_extents(const Convolution& convolution);
int64_t tiles(const Convolution& convolution);  // of 4x4 or 4x4x4 outputs, in all images

// The convolution that computes the source's gradient from the destination's, with flipped weights.
Convolution backward_data(const Convolution& convolution);

// Why these kernels cannot compute it on this CPU; nothing when they can.
std::optional<std::string> why_unsupported(const Convolution& convolution);

// Weights are plain OI[D]HW. `flipped` packs for backward_data(c), where `convolution` is that one and
// `weights` are those of c: its inputs are the weights' first axis, its outputs the second.
enum class WeightOrder { forward, flipped };

int64_t packed_weights_floats(const Convolution& convolution);
void pack_weights(const Convolution& convolution, WeightOrder order, const float* weights, float* packed,
                  int threads);

enum class Activation { none, relu, elu };

struct ForwardArguments {
  const float* src = nullptr;
  const float* packed_weights = nullptr;
  const float* bias = nullptr;  // one per output channel, or none
  // Laid out as dst, perhaps dst itself, or none; at most one of them. A residual is added before the
  // activation; a mask lets pass the outputs where it is positive, as the gradient of a ReLU does.
  const float *residual = nullptr, *mask = nullptr;
  Activation activation = Activation::none;
  float alpha = 1;        // of ELU
  bool max_pool = false;  // store only the largest of each 2x2 outputs, without residual or mask; not in 3D
  float* dst = nullptr;
};

// Of dst with max_pool: an odd last row or column is left out. ELU then wants alpha >= 0.
std::array<int64_t, 3> pooled_extents(const Convolution& convolution);

// Packed weights and scratch must be aligned to 64 bytes, activations to 32. Nothing is allocated while
// running, and the result does not depend on the number of threads.
int64_t forward_scratch_floats(const Convolution& convolution, int threads);
void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads);

// forward() with weights as they are, which packs them on the way, with the same result to the bit: all at
// once up to kMostPackedFloats, else in parts that stay in the caches. `arguments.packed_weights` is ignored.
inline constexpr int64_t kMostPackedFloats = 16 << 20;  // 64 MiB: few layers but wide ones in 3D have more
int64_t packed_part_floats(const Convolution& convolution);  // held at a time
int64_t packing_forward_scratch_floats(const Convolution& convolution, int threads);
void packing_forward(const Convolution& convolution, WeightOrder order, const float* weights,
                     const ForwardArguments& arguments, float* scratch, int threads);

struct BackwardWeightsArguments {
  const float* src = nullptr;
  const float* diff_dst = nullptr;
  float* diff_weights = nullptr;  // plain OI[D]HW
  float* diff_bias = nullptr;     // or none
};

// As for forward(), except that sums depend on the number of threads: they are the same from run to run.
int64_t backward_weights_scratch_floats(const Convolution& convolution, int threads);
void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads);

}  // namespace tacho::winograd
