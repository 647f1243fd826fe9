#include "graph/window.h"

namespace tacho {

int64_t output_extent(int64_t input, const Window& window) {
  const int64_t room = input + 2 * window.padding - window.dilation * (window.kernel - 1) - 1;
  if (room < 0) return 0;
  if (!window.ceil_mode) return room / window.stride + 1;
  const int64_t positions = (room + window.stride - 1) / window.stride + 1;
  // PyTorch's rule: a window must start inside the input or its leading padding.
  return (positions - 1) * window.stride >= input + window.padding ? positions - 1 : positions;
}

}  // namespace tacho
