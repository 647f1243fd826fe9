#pragma once

#include <cstdint>

namespace tacho {

// One axis of a sliding window: of a convolution or a pooling.
struct Window {
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool ceil_mode = false;
};

// Output positions along the axis; below 1 where the window does not fit.
int64_t output_extent(int64_t input, const Window& window);

}  // namespace tacho
