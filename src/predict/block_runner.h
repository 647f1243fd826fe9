#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/engine.h"
#include "volume/box.h"

namespace tacho {

// What the network sees beyond the edges of the volume: its mirror image without end, or, layer by layer, the
// zeros of the network's own padding. There the volume is extended at its far ends by zeros to a multiple of
// the network's strides.
enum class Border { reflect, network };

// Activations that a runner's plans may hold together, as far as tiles can be made smaller; where threads
// compute tiles of their own, up to 2 MiB more of each thread and stage.
inline constexpr int64_t kDefaultActivationBytes = int64_t{1} << 30;

struct BlockOptions {
  Point block = {};
  Border border = Border::reflect;
  // Nothing: each block is computed from all that its outputs depend on, as if the network had run on the
  // whole volume. Else the network runs, with its own padding, on the block and this many voxels around it.
  std::optional<Point> halo = {};
  int64_t activation_bytes = kDefaultActivationBytes;
};

// Of a block in the middle of a large volume.
struct BlockCost {
  int64_t memory_bytes = 0;  // that a runner holds
  double flop = 0;
  int64_t input_voxels = 0;
  double whole_flop = 0;  // with every layer computed over the whole input box

  // The share of the work that computing only what is needed saves.
  double saved() const { return whole_flop > 0 ? 1 - flop / whole_flop : 0; }
};

// What a runner would hold and compute, without compiling it. Throws UserError where the network cannot be
// run in such blocks.
BlockCost estimate_block(const Graph& network, const Engine& engine, const CompileOptions& options,
                         const Point& volume, const BlockOptions& block);

// Computes blocks of a fully convolutional network's output over a volume, one at a time.
class BlockRunner {
 public:
  // `network` is an inference graph of any image size with batch 1 and one input channel. Throws UserError
  // where it cannot be run in such blocks and OutOfMemory where it does not fit.
  BlockRunner(const Graph& network, const Weights& weights, const Engine& engine,
              const CompileOptions& options, const Point& volume, const BlockOptions& block);
  ~BlockRunner();
  BlockRunner(BlockRunner&&) noexcept;
  BlockRunner& operator=(BlockRunner&&) noexcept;

  // What must be given to compute a box of the tiling. It may reach outside of the volume: the caller fills
  // that by mirroring (reflect) or zeros (network).
  Box input_box(const Box& output) const;
  // Voxels of the largest input box of the tiling.
  int64_t largest_input() const;

  // `input`: the input box, row-major. `result`: channels x output box, row-major. Allocates nothing of a
  // block's size.
  void run(const Box& output, std::span<const float> input, std::span<float> result);

  int64_t channels() const;  // of the result
  double flop_done() const;  // by all runs so far
  int64_t memory_bytes() const;
  const BlockCost& cost() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tacho
