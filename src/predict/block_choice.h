#pragma once

#include <cstdint>
#include <string>

#include "predict/block_runner.h"

namespace tacho {

struct BlockChoice {
  Point block = {};
  std::string reason = {};  // for the user, in one line
};

// What a block has to keep to.
struct BlockLimits {
  int64_t memory_bytes = 0;  // for a runner and the blocks on their way
  int64_t blocks = 1;        // that there shall be at least, where the volume is large enough
};

// Grows a block along the axis that saves most of the work for halos, as far as the limits go; of the last
// steps, the one that is measured to be the fastest, where that costs little beside the prediction itself.
// Throws UserError where not even the smallest block fits.
BlockChoice choose_block(const Graph& network, const Weights& weights, const Engine& engine,
                         const CompileOptions& options, const Point& volume, const BlockOptions& asked,
                         const BlockLimits& limits);

}  // namespace tacho
