#include "engine/reference/convolution.h"

#include <algorithm>
#include <vector>

#include "engine/reference/layout.h"
#include "engine/reference/sliding_window.h"
#include "engine/reference/vector_math.h"

// At one output position a convolution is a matrix product: each output channel is the dot product of its
// filter with the patch of input under the kernel. The gradients are the two transposed products.
namespace tacho::reference {
namespace {

// Bounds the accumulators that the gradient of the weights needs.
constexpr int64_t kFiltersAtOnce = 64;

SlidingWindow window_of(const Convolution& op, const Shape& x, const Shape& weight, const Shape& y) {
  return SlidingWindow({spatial(x), spatial(y), spatial(weight), op.stride, op.padding, op.dilation});
}

// One filter: the weights of one output channel, in the order of a patch.
std::span<const float> filter(const Tensor& weight, int64_t output_channel) {
  const auto length = static_cast<size_t>(weight.size() / weight.shape()[0]);
  return weight.values<float>().subspan(static_cast<size_t>(output_channel) * length, length);
}

// The input under the kernel, for the channels from `first_channel` on; zero on padding.
void gather_patch(const Tensor& x, int64_t image, int64_t first_channel, std::span<const int64_t> cells,
                  std::span<double> patch) {
  for (size_t i = 0; i < patch.size(); i += cells.size(), ++first_channel) {
    const std::span<const float> from = plane(x, image, first_channel);
    for (size_t tap = 0; tap < cells.size(); ++tap) {
      patch[i + tap] = cells[tap] < 0 ? 0.0 : from[static_cast<size_t>(cells[tap])];
    }
  }
}

// The transpose of gather_patch: adds a patch to the planes (channel after channel) it was gathered from.
void scatter_patch(std::span<const double> patch, std::span<const int64_t> cells, size_t plane_cells,
                   std::span<double> planes) {
  for (size_t i = 0, channel = 0; i < patch.size(); i += cells.size(), ++channel) {
    for (size_t tap = 0; tap < cells.size(); ++tap) {
      if (cells[tap] >= 0) planes[channel * plane_cells + static_cast<size_t>(cells[tap])] += patch[i + tap];
    }
  }
}

void sum_over_images_and_cells(const Tensor& dy, Tensor& dbias) {
  const Layout layout = layout_of(dy);
  for (int64_t channel = 0; channel < layout.channels; ++channel) {
    double sum = 0;
    for (int64_t image = 0; image < layout.images; ++image) {
      for (const float value : plane(dy, image, channel)) sum += value;
    }
    dbias.values<float>()[static_cast<size_t>(channel)] = static_cast<float>(sum);
  }
}

}  // namespace

void convolution(const Convolution& op, const Tensor& x, const Tensor& weight, const Tensor* bias,
                 Tensor& y) {
  SlidingWindow window = window_of(op, x.shape(), weight.shape(), y.shape());
  const Layout out = layout_of(y);
  const int64_t group_inputs = weight.shape()[1], group_outputs = out.channels / op.groups;
  std::vector<double> patch(static_cast<size_t>(group_inputs * window.taps()));
  for (int64_t image = 0; image < out.images; ++image) {
    for (int64_t position = 0; position < window.positions(); ++position) {
      const auto cells = window.cells(position);
      for (int64_t channel = 0; channel < out.channels; ++channel) {
        const int64_t group = channel / group_outputs;
        if (channel % group_outputs == 0) gather_patch(x, image, group * group_inputs, cells, patch);
        const double offset = bias ? bias->values<float>()[static_cast<size_t>(channel)] : 0.0;
        plane(y, image, channel)[static_cast<size_t>(position)] =
            static_cast<float>(offset + dot(filter(weight, channel), patch));
      }
    }
  }
}

void convolution_backward_data(const Convolution& op, const Tensor& dy, const Tensor& weight, Tensor& dx) {
  SlidingWindow window = window_of(op, dx.shape(), weight.shape(), dy.shape());
  const Layout in = layout_of(dx), out = layout_of(dy);
  const int64_t group_inputs = weight.shape()[1], group_outputs = out.channels / op.groups;
  std::vector<double> patch(static_cast<size_t>(group_inputs * window.taps()));
  std::vector<double> planes(static_cast<size_t>(group_inputs * in.cells));
  for (int64_t image = 0; image < in.images; ++image) {
    for (int64_t group = 0; group < op.groups; ++group) {
      std::ranges::fill(planes, 0.0);
      for (int64_t position = 0; position < window.positions(); ++position) {
        std::ranges::fill(patch, 0.0);
        for (int64_t channel = group * group_outputs; channel < (group + 1) * group_outputs; ++channel) {
          const double gradient = plane(dy, image, channel)[static_cast<size_t>(position)];
          add_scaled<float>(gradient, filter(weight, channel), patch);
        }
        scatter_patch(patch, window.cells(position), static_cast<size_t>(in.cells), planes);
      }
      float* to = dx.values<float>().data() + in.offset(image, group * group_inputs);
      std::ranges::transform(planes, to, [](double value) { return static_cast<float>(value); });
    }
  }
}

void convolution_backward_weights(const Convolution& op, const Tensor& x, const Tensor& dy, Tensor& dweight,
                                  Tensor* dbias) {
  SlidingWindow window = window_of(op, x.shape(), dweight.shape(), dy.shape());
  const Layout out = layout_of(dy);
  const int64_t group_inputs = dweight.shape()[1], group_outputs = out.channels / op.groups;
  const auto length = static_cast<size_t>(group_inputs * window.taps());
  std::vector<double> patch(length);
  for (int64_t first = 0; first < out.channels;) {
    const int64_t group = first / group_outputs;
    const int64_t end = std::min(first + kFiltersAtOnce, (group + 1) * group_outputs);
    std::vector<double> sums(static_cast<size_t>(end - first) * length);
    for (int64_t image = 0; image < out.images; ++image) {
      for (int64_t position = 0; position < window.positions(); ++position) {
        gather_patch(x, image, group * group_inputs, window.cells(position), patch);
        for (int64_t channel = first; channel < end; ++channel) {
          const double gradient = plane(dy, image, channel)[static_cast<size_t>(position)];
          const auto sum = std::span(sums).subspan(static_cast<size_t>(channel - first) * length, length);
          add_scaled<double>(gradient, patch, sum);
        }
      }
    }
    float* to = dweight.values<float>().data() + static_cast<size_t>(first) * length;
    std::ranges::transform(sums, to, [](double value) { return static_cast<float>(value); });
    first = end;
  }
  if (dbias) sum_over_images_and_cells(dy, *dbias);
}

}  // namespace tacho::reference
