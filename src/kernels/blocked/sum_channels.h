#pragma once

#include "kernels/blocked/layout.h"
#include "kernels/split.h"

namespace tacho::blocked {

// How threads share the sums of each channel over a batch: see sum_channels_avx2.h.
Loop sum_channels_loop(const ActivationLayout& layout, int64_t batch);

}  // namespace tacho::blocked
