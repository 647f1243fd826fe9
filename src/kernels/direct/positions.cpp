#include "kernels/direct/positions.h"

namespace tacho::direct::TACHO_ISA {
namespace {

int64_t offset_of(const ActivationLayout& layout, const std::array<int64_t, 3>& at) {
  return at[0] * layout.plane_stride + (at[1] * layout.extents[2] + at[2]) * kLanes;
}

}  // namespace

Axis::Axis(const Convolution& convolution, Direction direction, int axis) {
  const int64_t stride = convolution.stride[axis], padding = convolution.padding[axis],
                kernel = convolution.kernel[axis], inputs = convolution.extents[axis],
                outputs = dst_extents(convolution)[axis];
  if (direction == Direction::forward) {
    read_step = stride;
    for (int64_t output = 0; output < outputs; ++output) {
      const int64_t first = output * stride - padding;
      const int64_t begin = std::max<int64_t>(0, -first), end = std::min(kernel, inputs - first);
      add({output, 1, begin, end - begin, first + begin});
    }
    return;
  }
  // Inputs of one phase meet every stride-th tap, the later the tap the earlier the output.
  written_step = tap_step = stride;
  read_step_of_tap = -1;
  for (int64_t phase = 0; phase < stride; ++phase) {
    const int64_t taps = phase < kernel ? divide_up(kernel - phase, stride) : 0;
    const int64_t first_input = (phase - padding % stride + stride) % stride;
    for (int64_t input = first_input; input < inputs; input += stride) {
      const int64_t output = (input + padding - phase) / stride;  // that the phase's first tap leads to
      const int64_t begin = std::max<int64_t>(0, output - outputs + 1), end = std::min(taps, output + 1);
      const bool meets = begin < end;
      add({input, 1, meets ? phase + begin * stride : phase, meets ? end - begin : 0,
           meets ? output - begin : 0});
    }
  }
}

void Axis::add(const Run& place) {
  if (count_ > 0) {
    Run& last = runs_[count_ - 1];
    if (last.tap == place.tap && last.taps == place.taps) {
      ++last.places;
      return;
    }
  }
  runs_[count_++] = place;
}

Positions::Positions(const Convolution& convolution, Direction direction)
    : batch_(convolution.batch),
      kernel_(convolution.kernel),
      chunk_blocks_(PackedLayout(convolution, direction).largest_chunk()),
      read_(direction == Direction::forward ? src_layout(convolution) : dst_layout(convolution)),
      written_(direction == Direction::forward ? dst_layout(convolution) : src_layout(convolution)),
      axes_{Axis(convolution, direction, 0), Axis(convolution, direction, 1),
            Axis(convolution, direction, 2)} {
  for_each_kind([&](const Kind& kind) {
    blocks_ += divide_up(count(kind), kBlockPositions);
    ++kinds_;
  });
}

int64_t Positions::steps(int64_t blocks) const {
  return std::min(blocks, kinds_) * (chunk_blocks_ * kernel_[0] * kernel_[1] * kernel_[2] + 1);
}

template<typename Visit>
void Positions::for_each_kind(const Visit& visit) const {
  for (const Run& z : axes_[0]) {
    for (const Run& y : axes_[1]) {
      for (const Run& x : axes_[2]) visit(Kind{z, y, x});
    }
  }
}

int64_t Positions::count(const Kind& kind) const {
  return batch_ * kind[0].places * kind[1].places * kind[2].places;
}

void Positions::list(int64_t begin, int64_t end, Step* steps, PositionBlock* result) const {
  int64_t first = 0;
  for_each_kind([&](const Kind& kind) {
    const int64_t blocks = divide_up(count(kind), kBlockPositions);
    const int64_t from = std::max<int64_t>(begin - first, 0), to = std::min(end - first, blocks);
    if (from < to) {
      list(kind, from, to, steps, result);
      steps = list_steps(kind, steps);
      result += to - from;
    }
    first += blocks;
  });
}

// Returns where the next kind's steps may begin.
Step* Positions::list_steps(const Kind& kind, Step* steps) const {
  const int64_t block_weights = kernel_[0] * kernel_[1] * kernel_[2] * kTapFloats;
  for (int64_t block = 0; block < chunk_blocks_; ++block) {
    for (int64_t z = 0; z < kind[0].taps; ++z) {
      for (int64_t y = 0; y < kind[1].taps; ++y) {
        for (int64_t x = 0; x < kind[2].taps; ++x) {
          const std::array<int64_t, 3> nth = {z, y, x};
          std::array<int64_t, 3> from_first, tap;
          for (int axis = 0; axis < 3; ++axis) {
            from_first[axis] = nth[axis] * axes_[axis].read_step_of_tap;
            tap[axis] = kind[axis].tap + nth[axis] * axes_[axis].tap_step;
          }
          const int64_t index = (tap[0] * kernel_[1] + tap[1]) * kernel_[2] + tap[2];
          *steps++ = {block * read_.block_stride + offset_of(read_, from_first),
                      block * block_weights + index * kTapFloats};
        }
      }
    }
  }
  *steps++ = {};
  return steps;
}

void Positions::list(const Kind& kind, int64_t begin, int64_t end, const Step* steps,
                     PositionBlock* result) const {
  const int64_t positions = count(kind), blocks = divide_up(positions, kBlockPositions);
  const auto first_of = [&](int64_t block) { return positions * block / blocks; };
  int64_t rest = first_of(begin);
  std::array<int64_t, 3> nth;  // place of each axis' run
  for (int axis = 2; axis >= 0; --axis) {
    nth[axis] = rest % kind[axis].places;
    rest /= kind[axis].places;
  }
  int64_t image = rest, read = 0, written = 0;
  const auto locate = [&] {
    std::array<int64_t, 3> from, to;
    for (int axis = 0; axis < 3; ++axis) {
      from[axis] = kind[axis].read + nth[axis] * axes_[axis].read_step;
      to[axis] = kind[axis].written + nth[axis] * axes_[axis].written_step;
    }
    read = image * read_.batch_stride + offset_of(read_, from);
    written = image * written_.batch_stride + offset_of(written_, to);
  };
  const auto advance = [&] {
    if (++nth[2] < kind[2].places) {
      read += axes_[2].read_step * kLanes;
      written += axes_[2].written_step * kLanes;
      return;
    }
    nth[2] = 0;
    if (++nth[1] == kind[1].places) nth[1] = 0, ++nth[0];
    if (nth[0] == kind[0].places) nth[0] = 0, ++image;
    locate();
  };
  locate();
  for (int64_t i = begin; i < end; ++i, ++result) {
    result->count = static_cast<int>(first_of(i + 1) - first_of(i));
    result->taps = kind[0].taps * kind[1].taps * kind[2].taps;
    result->steps = steps;
    for (int position = 0; position < result->count; ++position, advance()) {
      result->read[position] = read;
      result->written[position] = written;
    }
  }
}

}  // namespace tacho::direct::TACHO_ISA
