#pragma once

#include <cstdint>

namespace tacho::native {

// Floats of a linear layer's weight gradient that exist at once where gradients are not kept: so few that
// they are still in a cache when the weights are updated.
inline constexpr int64_t kLinearGradientPart = 4 << 20;

}  // namespace tacho::native
