#include "engine/reference/shape_ops.h"

#include <algorithm>
#include <vector>

#include "engine/reference/layout.h"
#include "engine/reference/sliding_window.h"

namespace tacho::reference {
namespace {

// Where each cell of an upsampled image comes from.
std::vector<size_t> sources(const Extents& small, const Extents& large, const Extents& scale) {
  std::vector<size_t> from;
  for (int64_t position = 0; position < elements(large); ++position) {
    Extents index = unravel(position, large);
    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] /= scale[axis];
    from.push_back(static_cast<size_t>(ravel(index, small)));
  }
  return from;
}

// Copies `channels` channels of every image.
void copy_channels(const Tensor& from, int64_t from_begin, Tensor& to, int64_t to_begin, int64_t channels) {
  for (int64_t image = 0; image < from.shape()[0]; ++image) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      std::ranges::copy(plane(from, image, from_begin + channel),
                        plane(to, image, to_begin + channel).begin());
    }
  }
}

}  // namespace

void copy_elements(const Tensor& x, Tensor& y) {
  std::ranges::copy(x.values<float>(), y.values<float>().begin());
}

void concat(std::span<const Tensor* const> parts, Tensor& y) {
  int64_t begin = 0;
  for (const Tensor* part : parts) {
    const int64_t channels = part->shape()[1];
    copy_channels(*part, 0, y, begin, channels);
    begin += channels;
  }
}

void slice(const Slice& op, const Tensor& x, Tensor& y) { copy_channels(x, op.begin, y, 0, op.channels); }

void upsample(const Upsample& op, const Tensor& x, Tensor& y) {
  const auto from = sources(spatial(x.shape()), spatial(y.shape()), op.scale);
  const Layout layout = layout_of(x);
  for (int64_t number = 0; number < layout.images * layout.channels; ++number) {
    const auto x_plane = plane(x, 0, number);
    std::ranges::transform(from, plane(y, 0, number).begin(), [&](size_t cell) { return x_plane[cell]; });
  }
}

void upsample_backward(const UpsampleBackward& op, const Tensor& dy, Tensor& dx) {
  const auto from = sources(spatial(dx.shape()), spatial(dy.shape()), op.scale);
  const Layout layout = layout_of(dx);
  for (int64_t number = 0; number < layout.images * layout.channels; ++number) {
    std::vector<double> sums(static_cast<size_t>(layout.cells));
    const auto dy_plane = plane(dy, 0, number);
    for (size_t i = 0; i < from.size(); ++i) sums[from[i]] += dy_plane[i];
    std::ranges::transform(sums, plane(dx, 0, number).begin(),
                           [](double sum) { return static_cast<float>(sum); });
  }
}

void crop(const Crop& op, const Tensor& x, Tensor& y) {
  const Extents from = spatial(x.shape());
  const Layout layout = layout_of(y);
  for (int64_t cell = 0; cell < layout.cells; ++cell) {
    Extents index = unravel(cell, op.size);
    bool inside = true;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      index[axis] += op.begin[axis];
      inside = inside && index[axis] >= 0 && index[axis] < from[axis];
    }
    for (int64_t number = 0; number < layout.images * layout.channels; ++number) {
      plane(y, 0, number)[static_cast<size_t>(cell)] =
          inside ? plane(x, 0, number)[static_cast<size_t>(ravel(index, from))] : 0;
    }
  }
}

void fence(const Fence& op, const Tensor& x, const Tensor& bounds, Tensor& y) {
  const auto limits = bounds.values<int64_t>();
  const Layout layout = layout_of(x);
  for (int64_t cell = 0; cell < layout.cells; ++cell) {
    const Extents index = unravel(cell, spatial(x.shape()));
    bool inside = true;
    for (size_t axis = 0; axis < index.size(); ++axis)
      inside = inside && index[axis] >= limits[axis] && index[axis] < limits[index.size() + axis];
    for (int64_t number = 0; number < layout.images * layout.channels; ++number) {
      const auto position = static_cast<size_t>(cell);
      plane(y, 0, number)[position] = inside ? plane(x, 0, number)[position] : static_cast<float>(op.outside);
    }
  }
}

}  // namespace tacho::reference
