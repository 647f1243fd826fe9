#include "kernels/blocked/sum_channels.h"

namespace tacho::blocked::TACHO_ISA {

int64_t channel_sums_floats(const ActivationLayout& layout, int64_t batch) {
  return ChannelSums(layout, batch).parts.items() * kLanes * int64_t{sizeof(double) / sizeof(float)};
}

Loop sum_channels_loop(const ActivationLayout& layout, int64_t batch) {
  const ChannelSums sums(layout, batch);
  const double chunk = static_cast<double>(layout.plane_stride) / static_cast<double>(kLanes * sums.chunks);
  return loop_over(sums.parts, chunk);
}

}  // namespace tacho::blocked::TACHO_ISA
