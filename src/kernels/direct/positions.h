#pragma once

#include "kernels/direct/layout.h"

namespace tacho::direct {

inline constexpr int64_t kBlockPositions = 6;  // outputs' places that the inner kernel computes at once
inline constexpr int64_t kMaxKernel = 16;      // along one axis

// Neighbouring outputs along one axis for which the same taps meet the source.
struct Run {
  int64_t begin, end;          // outputs
  int64_t tap_begin, tap_end;  // taps
  int64_t outputs() const { return end - begin; }
  int64_t taps() const { return tap_end - tap_begin; }
};

class Axis {
 public:
  Axis(const Convolution& convolution, int axis);

  int64_t stride() const { return stride_; }
  int64_t padding() const { return padding_; }
  const Run* begin() const { return runs_.data(); }
  const Run* end() const { return runs_.data() + count_; }

 private:
  int64_t stride_, padding_;
  int count_ = 0;
  std::array<Run, 2 * kMaxKernel> runs_;
};

// One tap of one channel block: where it lies, as seen from a position and from a slice's weights.
struct Step {
  int64_t src, weights;
};

// Positions that need the same taps, so that no tap is wasted on padding.
struct PositionBlock {
  int count = 0;
  int64_t taps;                              // of each channel block
  const Step* steps;                         // one more may be read
  std::array<int64_t, kBlockPositions> src;  // where the first tap meets the source's first channel block
  std::array<int64_t, kBlockPositions> dst;
};

// The positions of all images, ordered by the taps that they need, in blocks that never mix them.
class Positions {
 public:
  explicit Positions(const Convolution& convolution);

  int64_t blocks() const { return blocks_; }

  // Room for the steps of that many blocks.
  int64_t steps(int64_t blocks) const;

  // Blocks [begin, end) of all. They point into `steps`.
  void list(int64_t begin, int64_t end, Step* steps, PositionBlock* result) const;

 private:
  using Kind = std::array<Run, 3>;  // one run of each axis

  template<typename Visit>
  void for_each_kind(const Visit& visit) const;
  int64_t count(const Kind& kind) const;
  void list(const Kind& kind, int64_t begin, int64_t end, const Step* steps, PositionBlock* result) const;
  Step* list_steps(const Kind& kind, Step* steps) const;

  int64_t batch_;
  std::array<int64_t, 3> kernel_;
  int64_t chunk_blocks_;  // input blocks of the largest chunk
  ActivationLayout src_, dst_;
  std::array<Axis, 3> axes_;
  int64_t blocks_ = 0, kinds_ = 0;
};

}  // namespace tacho::direct
