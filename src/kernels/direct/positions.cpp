#include "kernels/direct/positions.h"

namespace tacho::direct {
namespace {

int64_t offset_of(const ActivationLayout& layout, const std::array<int64_t, 3>& at) {
  return at[0] * layout.plane_stride + (at[1] * layout.extents[2] + at[2]) * kLanes;
}

}  // namespace

Axis::Axis(const Convolution& convolution, int axis)
    : stride_(convolution.stride[axis]), padding_(convolution.padding[axis]) {
  const int64_t outputs = dst_extents(convolution)[axis];
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t first = output * stride_ - padding_;
    const int64_t begin = std::max<int64_t>(0, -first);
    const int64_t end = std::min(convolution.kernel[axis], convolution.extents[axis] - first);
    const bool alike = count_ > 0 && runs_[count_ - 1].tap_begin == begin && runs_[count_ - 1].tap_end == end;
    if (!alike) runs_[count_++] = {output, output, begin, end};
    ++runs_[count_ - 1].end;
  }
}

Positions::Positions(const Convolution& convolution)
    : batch_(convolution.batch),
      kernel_(convolution.kernel),
      chunk_blocks_(PackedLayout(convolution).largest_chunk()),
      src_(src_layout(convolution)),
      dst_(dst_layout(convolution)),
      axes_{Axis(convolution, 0), Axis(convolution, 1), Axis(convolution, 2)} {
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
  return batch_ * kind[0].outputs() * kind[1].outputs() * kind[2].outputs();
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
    for (int64_t z = kind[0].tap_begin; z < kind[0].tap_end; ++z) {
      for (int64_t y = kind[1].tap_begin; y < kind[1].tap_end; ++y) {
        for (int64_t x = kind[2].tap_begin; x < kind[2].tap_end; ++x) {
          const std::array<int64_t, 3> from_first = {z - kind[0].tap_begin, y - kind[1].tap_begin,
                                                     x - kind[2].tap_begin};
          const int64_t tap = (z * kernel_[1] + y) * kernel_[2] + x;
          *steps++ = {block * src_.block_stride + offset_of(src_, from_first),
                      block * block_weights + tap * kTapFloats};
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
  std::array<int64_t, 3> at;
  for (int axis = 2; axis >= 0; --axis) {
    at[axis] = kind[axis].begin + rest % kind[axis].outputs();
    rest /= kind[axis].outputs();
  }
  int64_t image = rest, src = 0, dst = 0;
  const auto locate = [&] {
    std::array<int64_t, 3> from;
    for (int axis = 0; axis < 3; ++axis) {
      from[axis] = at[axis] * axes_[axis].stride() - axes_[axis].padding() + kind[axis].tap_begin;
    }
    src = image * src_.batch_stride + offset_of(src_, from);
    dst = image * dst_.batch_stride + offset_of(dst_, at);
  };
  const auto advance = [&] {
    if (++at[2] < kind[2].end) {
      src += axes_[2].stride() * kLanes;
      dst += kLanes;
      return;
    }
    at[2] = kind[2].begin;
    if (++at[1] == kind[1].end) at[1] = kind[1].begin, ++at[0];
    if (at[0] == kind[0].end) at[0] = kind[0].begin, ++image;
    locate();
  };
  locate();
  for (int64_t i = begin; i < end; ++i, ++result) {
    result->count = static_cast<int>(first_of(i + 1) - first_of(i));
    result->taps = kind[0].taps() * kind[1].taps() * kind[2].taps();
    result->steps = steps;
    for (int position = 0; position < result->count; ++position, advance()) {
      result->src[position] = src;
      result->dst[position] = dst;
    }
  }
}

}  // namespace tacho::direct
