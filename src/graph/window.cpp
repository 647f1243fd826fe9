#include "graph/window.h"

namespace tacho {

int64_t output_extent(int64_t input, const Window& window) {
  const int64_t reach = window.dilation * (window.kernel - 1) + 1;
  const int64_t room = input + 2 * window.padding - reach + (window.ceil_mode ? window.stride - 1 : 0);
  if (room < 0) return 0;
  const int64_t positions = room / window.stride + 1;
  // PyTorch's rule: a window that only ceil mode adds must start inside the input or its leading padding.
  const bool starts_behind = window.ceil_mode && (positions - 1) * window.stride >= input + window.padding;
  return starts_behind ? positions - 1 : positions;
}

}  // namespace tacho
