#include "engine/native/taps.h"

#include <algorithm>

#include "graph/window.h"

namespace tacho::native {
namespace {

struct AxisTaps {
  int64_t first, count, padding;
};

AxisTaps used_along_axis(int64_t input, int64_t output, const Window& window) {
  int64_t first = window.kernel, last = -1;
  for (int64_t tap = 0; tap < window.kernel; ++tap) {
    for (int64_t position = 0; position < output; ++position) {
      const int64_t at = position * window.stride + tap * window.dilation - window.padding;
      if (at < 0 || at >= input) continue;
      first = std::min(first, tap);
      last = tap;
    }
  }
  Window used = window;
  used.kernel = last - first + 1;
  used.padding = window.padding - first * window.dilation;
  const bool fits = used.kernel > 0 && used.padding >= 0 && output_extent(input, used) == output;
  return fits ? AxisTaps{first, used.kernel, used.padding} : AxisTaps{0, window.kernel, window.padding};
}

// Where each tap of a kernel of `count` lies in a kernel of `whole`.
std::vector<size_t> positions_of(const Extents& first, const Extents& count, const Extents& whole) {
  std::vector<size_t> positions = {0};
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    std::vector<size_t> next;
    for (const size_t position : positions) {
      for (int64_t tap = first[axis]; tap < first[axis] + count[axis]; ++tap)
        next.push_back(position * static_cast<size_t>(whole[axis]) + static_cast<size_t>(tap));
    }
    positions = std::move(next);
  }
  return positions;
}

Tensor cut(const Tensor& weight, const Shape& shape, const Extents& first) {
  const Extents whole = spatial(weight.shape());
  const std::vector<size_t> positions = positions_of(first, spatial(shape), whole);
  const auto whole_taps = static_cast<size_t>(elements(whole));
  Tensor result(shape, DType::f32);
  const std::span<const float> from = weight.values<float>();
  const std::span<float> to = result.values<float>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = from[i / positions.size() * whole_taps + positions[i % positions.size()]];
  return result;
}

}  // namespace

UsedTaps used_taps(const Convolution& op, const Shape& input, const Shape& weight, const Shape& output) {
  UsedTaps result;
  for (size_t axis = 0; axis < op.stride.size(); ++axis) {
    const Window window{weight[axis + 2], op.stride[axis], op.padding[axis], op.dilation[axis]};
    const AxisTaps taps = used_along_axis(input[axis + 2], output[axis + 2], window);
    result.first.push_back(taps.first);
    result.count.push_back(taps.count);
    result.padding.push_back(taps.padding);
  }
  return result;
}

void cut_to_used_taps(const Program& program, Weights& weights) {
  for (const auto& [id, part] : program.kernel_parts) {
    Tensor& weight = weights.at(program.value(id).name);
    weight = cut(weight, program.shape(id), part.first);
  }
}

}  // namespace tacho::native
