#include "kernels/direct/reference.h"

#include <algorithm>

#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

using Place = std::array<int64_t, 3>;

int64_t offset_of(const ActivationLayout& layout, int64_t image, int64_t channel, const Place& at) {
  return image * layout.batch_stride + channel / layout.lanes * layout.block_stride +
         at[0] * layout.plane_stride + (at[1] * layout.extents[2] + at[2]) * layout.lanes +
         channel % layout.lanes;
}

template<typename Visit>
void for_each_place(const Place& extents, const Visit& visit) {
  for (int64_t z = 0; z < extents[0]; ++z) {
    for (int64_t y = 0; y < extents[1]; ++y) {
      for (int64_t x = 0; x < extents[2]; ++x) visit(Place{z, y, x});
    }
  }
}

// Every pair of a place of the destination and one of the source, and the tap that joins them.
template<typename Visit>
void for_each_meeting(const Convolution& c, const Visit& visit) {
  for_each_place(dst_extents(c), [&](const Place& to) {
    for_each_place(c.kernel, [&](const Place& tap) {
      Place from;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        from[axis] = to[axis] * c.stride[axis] + tap[axis] - c.padding[axis];
        inside = inside && from[axis] >= 0 && from[axis] < c.extents[axis];
      }
      if (inside) visit(from, to, (tap[0] * c.kernel[1] + tap[1]) * c.kernel[2] + tap[2]);
    });
  });
}

}  // namespace

void gather_reference(const Convolution& c, Direction direction, const GatherArguments& arguments,
                      const float* weights, double* written) {
  const bool forward = direction == Direction::forward;
  const ActivationLayout src = src_layout(c), dst = dst_layout(c);
  const ActivationLayout& written_layout = forward ? dst : src;
  const int64_t channels = forward ? c.out_channels : c.in_channels;
  std::fill_n(written, c.batch * written_layout.batch_stride, 0.0);
  for (int64_t image = 0; image < c.batch; ++image) {
    for_each_meeting(c, [&](const Place& from, const Place& to, int64_t tap) {
      for (int64_t out = 0; out < c.out_channels; ++out) {
        for (int64_t in = 0; in < c.in_channels; ++in) {
          const int64_t source = offset_of(src, image, in, from), target = offset_of(dst, image, out, to);
          const double weight = weights[(out * c.in_channels + in) * taps(c) + tap];
          written[forward ? target : source] += weight * arguments.read[forward ? source : target];
        }
      }
    });
    for (int64_t channel = 0; channel < written_layout.blocks * written_layout.lanes; ++channel) {
      for_each_place(written_layout.extents, [&](const Place& at) {
        const int64_t offset = offset_of(written_layout, image, channel, at);
        double& value = written[offset];
        if (channel < channels && arguments.bias != nullptr) value += arguments.bias[channel];
        if (arguments.residual != nullptr) value += arguments.residual[offset];
        if (arguments.relu) value = std::max(value, 0.0);
        if (arguments.mask != nullptr && !(arguments.mask[offset] > 0)) value = 0;
      });
    }
  }
}

void backward_weights_reference(const Convolution& c, const float* src, const float* diff_dst,
                                double* diff_weights, double* diff_bias) {
  const ActivationLayout from_layout = src_layout(c), to_layout = dst_layout(c);
  std::fill_n(diff_weights, c.out_channels * c.in_channels * taps(c), 0.0);
  if (diff_bias != nullptr) std::fill_n(diff_bias, c.out_channels, 0.0);
  for (int64_t image = 0; image < c.batch; ++image) {
    for_each_meeting(c, [&](const Place& from, const Place& to, int64_t tap) {
      for (int64_t out = 0; out < c.out_channels; ++out) {
        const double gradient = diff_dst[offset_of(to_layout, image, out, to)];
        for (int64_t in = 0; in < c.in_channels; ++in) {
          diff_weights[(out * c.in_channels + in) * taps(c) + tap] +=
              gradient * src[offset_of(from_layout, image, in, from)];
        }
      }
    });
    if (diff_bias == nullptr) continue;
    for (int64_t out = 0; out < c.out_channels; ++out) {
      for_each_place(to_layout.extents, [&](const Place& at) {
        diff_bias[out] += diff_dst[offset_of(to_layout, image, out, at)];
      });
    }
  }
}

}  // namespace tacho::direct
