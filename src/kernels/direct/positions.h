#pragma once

#include "kernels/direct/packed_layout.h"

namespace tacho::direct::TACHO_ISA {

inline constexpr int64_t kBlockPositions =
    blocked::kRowsAtOnce;  // places that the inner kernel writes at once

// Places along one axis, a step apart, for which the same taps meet what is read.
struct Run {
  int64_t written, places;  // the first of them, and how many
  int64_t tap, taps;        // the first tap, and how many, none included
  int64_t read;             // what the first tap meets at the first place
};

class Axis {
 public:
  Axis(const Convolution& convolution, Direction direction, int axis);

  const Run* begin() const { return runs_.data(); }
  const Run* end() const { return runs_.data() + count_; }

  // From one place of a run to the next, and from one tap to the next.
  int64_t written_step = 1, read_step = 1;
  int64_t tap_step = 1, read_step_of_tap = 1;

 private:
  void add(const Run& place);

  int count_ = 0;
  std::array<Run, 3 * kMaxKernel> runs_;
};

// One tap of one channel block: where it lies, as seen from a position and from a slice's weights.
struct Step {
  int64_t read, weights;
};

// Positions that need the same taps, so that no tap is wasted on padding.
struct PositionBlock {
  int count = 0;
  int64_t taps;                               // of each channel block
  const Step* steps;                          // one more may be read
  std::array<int64_t, kBlockPositions> read;  // where the first tap meets the first channel block
  std::array<int64_t, kBlockPositions> written;
};

// The positions of all images, ordered by the taps that they need, in blocks that never mix them.
class Positions {
 public:
  Positions(const Convolution& convolution, Direction direction);

  int64_t blocks() const { return blocks_; }

  // Room for the steps of that many blocks.
  int64_t steps(int64_t blocks) const;

  // Blocks [begin, end) of all. They point into `steps`.
  void list(int64_t begin, int64_t end, Step* steps, PositionBlock* result) const;

  const ActivationLayout& read() const { return read_; }
  const ActivationLayout& written() const { return written_; }

 private:
  using Kind = std::array<Run, 3>;  // one run of each axis

  template<typename Visit>
  void for_each_kind(const Visit& visit) const;
  int64_t count(const Kind& kind) const;
  void list(const Kind& kind, int64_t begin, int64_t end, const Step* steps, PositionBlock* result) const;
  Step* list_steps(const Kind& kind, Step* steps) const;

  int64_t batch_;
  std::array<int64_t, 3> kernel_;
  int64_t chunk_blocks_;  // read blocks of the largest chunk
  ActivationLayout read_, written_;
  std::array<Axis, 3> axes_;
  int64_t blocks_ = 0, kinds_ = 0;
};

}  // namespace tacho::direct::TACHO_ISA
