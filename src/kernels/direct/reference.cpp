#include "kernels/direct/reference.h"

#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

using Place = std::array<int64_t, 3>;

int64_t offset_of(const ActivationLayout& layout, int64_t image, int64_t channel, const Place& at) {
  return image * layout.batch_stride + channel / kLanes * layout.block_stride + at[0] * layout.plane_stride +
         (at[1] * layout.extents[2] + at[2]) * kLanes + channel % kLanes;
}

template<typename Visit>
void for_each_place(const Place& extents, const Visit& visit) {
  for (int64_t z = 0; z < extents[0]; ++z) {
    for (int64_t y = 0; y < extents[1]; ++y) {
      for (int64_t x = 0; x < extents[2]; ++x) visit(Place{z, y, x});
    }
  }
}

double sum_at(const Convolution& c, const float* src, const float* weights, int64_t image, int64_t out,
              const Place& at) {
  const ActivationLayout layout = src_layout(c);
  double sum = 0;
  for (int64_t in = 0; in < c.in_channels; ++in) {
    const float* of_pair = weights + (out * c.in_channels + in) * taps(c);
    for_each_place(c.kernel, [&](const Place& tap) {
      Place from;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        from[axis] = at[axis] * c.stride[axis] + tap[axis] - c.padding[axis];
        inside = inside && from[axis] >= 0 && from[axis] < c.extents[axis];
      }
      const double weight = of_pair[(tap[0] * c.kernel[1] + tap[1]) * c.kernel[2] + tap[2]];
      if (inside) sum += weight * src[offset_of(layout, image, in, from)];
    });
  }
  return sum;
}

}  // namespace

void forward_reference(const Convolution& c, const ForwardArguments& arguments, const float* weights,
                       double* dst) {
  const ActivationLayout layout = dst_layout(c);
  for (int64_t image = 0; image < c.batch; ++image) {
    for (int64_t out = 0; out < layout.blocks * kLanes; ++out) {
      for_each_place(layout.extents, [&](const Place& at) {
        const int64_t offset = offset_of(layout, image, out, at);
        const bool exists = out < c.out_channels;
        double value = exists ? sum_at(c, arguments.src, weights, image, out, at) : 0;
        if (exists && arguments.bias != nullptr) value += arguments.bias[out];
        if (arguments.residual != nullptr) value += arguments.residual[offset];
        dst[offset] = arguments.relu ? std::max(value, 0.0) : value;
      });
    }
  }
}

}  // namespace tacho::direct
