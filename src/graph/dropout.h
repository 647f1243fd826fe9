#pragma once

#include <string_view>

#include "base/random.h"

namespace tacho {

// The random stream of one dropout layer in one training pass.
inline Random dropout_stream(uint64_t seed, std::string_view layer, uint64_t pass) {
  return Random(seed).stream(layer).stream(pass);
}

// Whether the element with this row-major index survives.
inline bool dropout_keeps(const Random& stream, uint64_t index, double probability) {
  return stream.uniform(index) >= static_cast<float>(probability);
}

}  // namespace tacho
