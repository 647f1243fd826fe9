#include "kernels/winograd/reference.h"

#include <algorithm>
#include <cmath>

#include "kernels/winograd/layout.h"

namespace tacho::winograd {
namespace {

int64_t offset_of(const ActivationLayout& layout, int64_t image, int64_t channel, int64_t z, int64_t y,
                  int64_t x) {
  return image * layout.batch_stride + channel / layout.lanes * layout.block_stride +
         z * layout.plane_stride + (y * layout.extents[2] + x) * layout.lanes + channel % layout.lanes;
}

// Calls visit(channel, offset) for each element of an activation.
template<typename Visit>
void for_each_element(const Convolution& convolution, const ActivationLayout& layout, const Visit& visit) {
  for (int64_t image = 0; image < convolution.batch; ++image) {
    for (int64_t channel = 0; channel < layout.blocks * layout.lanes; ++channel) {
      for (int64_t z = 0; z < layout.extents[0]; ++z) {
        for (int64_t y = 0; y < layout.extents[1]; ++y) {
          for (int64_t x = 0; x < layout.extents[2]; ++x)
            visit(channel, offset_of(layout, image, channel, z, y, x));
        }
      }
    }
  }
}

// Calls visit(source offset, weight offset, destination offset) for each product of the definition.
template<typename Visit>
void for_each_product(const Convolution& c, const Visit& visit) {
  const ActivationLayout src = src_layout(c), dst = dst_layout(c);
  for (int64_t pair = 0; pair < c.out_channels * c.in_channels; ++pair) {
    const int64_t out = pair / c.in_channels, in = pair % c.in_channels;
    for (int64_t tap = 0; tap < taps(c); ++tap) {
      const int64_t tap_x = tap % c.kernel[2], tap_y = tap / c.kernel[2] % c.kernel[1],
                    tap_z = tap / c.kernel[2] / c.kernel[1];
      for (int64_t image = 0; image < c.batch; ++image) {
        for (int64_t element = 0; element < dst.block_stride / dst.lanes; ++element) {
          const int64_t x = element % dst.extents[2], rows = element / dst.extents[2];
          const int64_t y = rows % dst.extents[1], z = rows / dst.extents[1];
          const int64_t from_z = z + tap_z - c.padding[0], from_y = y + tap_y - c.padding[1],
                        from_x = x + tap_x - c.padding[2];
          const bool inside = from_z >= 0 && from_z < src.extents[0] && from_y >= 0 &&
                              from_y < src.extents[1] && from_x >= 0 && from_x < src.extents[2];
          if (!inside) continue;
          visit(offset_of(src, image, in, from_z, from_y, from_x), pair * taps(c) + tap,
                offset_of(dst, image, out, z, y, x));
        }
      }
    }
  }
}

}  // namespace

template<typename Real>
void forward_reference(const Convolution& convolution, const float* src, const float* weights,
                       const float* bias, const float* residual, Activation activation, float alpha,
                       Real* dst) {
  const ActivationLayout layout = dst_layout(convolution);
  for_each_element(convolution, layout, [&](int64_t, int64_t offset) { dst[offset] = 0; });
  for_each_product(convolution, [&](int64_t from, int64_t weight, int64_t to) {
    dst[to] += static_cast<Real>(src[from]) * static_cast<Real>(weights[weight]);
  });
  for_each_element(convolution, layout, [&](int64_t channel, int64_t offset) {
    if (bias != nullptr && channel < convolution.out_channels) dst[offset] += bias[channel];
    if (residual != nullptr) dst[offset] += residual[offset];
    if (activation == Activation::relu) dst[offset] = std::max<Real>(dst[offset], 0);
    if (activation == Activation::elu && dst[offset] < 0) dst[offset] = alpha * std::expm1(dst[offset]);
  });
}

template<typename Real>
void backward_data_reference(const Convolution& convolution, const float* diff_dst, const float* weights,
                             Real* diff_src) {
  for_each_element(convolution, src_layout(convolution),
                   [&](int64_t, int64_t offset) { diff_src[offset] = 0; });
  for_each_product(convolution, [&](int64_t to, int64_t weight, int64_t from) {
    diff_src[to] += static_cast<Real>(diff_dst[from]) * static_cast<Real>(weights[weight]);
  });
}

template<typename Real>
void backward_weights_reference(const Convolution& convolution, const float* src, const float* diff_dst,
                                Real* diff_weights, Real* diff_bias) {
  const int64_t out_channels = convolution.out_channels;
  std::fill_n(diff_weights, out_channels * convolution.in_channels * taps(convolution), 0);
  std::fill_n(diff_bias, out_channels, 0);
  for_each_product(convolution, [&](int64_t from, int64_t weight, int64_t to) {
    diff_weights[weight] += static_cast<Real>(src[from]) * static_cast<Real>(diff_dst[to]);
  });
  for_each_element(convolution, dst_layout(convolution), [&](int64_t channel, int64_t offset) {
    if (channel < out_channels) diff_bias[channel] += diff_dst[offset];
  });
}

template void forward_reference(const Convolution&, const float*, const float*, const float*, const float*,
                                Activation, float, float*);
template void forward_reference(const Convolution&, const float*, const float*, const float*, const float*,
                                Activation, float, double*);
template void backward_data_reference(const Convolution&, const float*, const float*, float*);
template void backward_data_reference(const Convolution&, const float*, const float*, double*);
template void backward_weights_reference(const Convolution&, const float*, const float*, float*, float*);
template void backward_weights_reference(const Convolution&, const float*, const float*, double*, double*);

}  // namespace tacho::winograd
