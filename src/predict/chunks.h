#pragma once

#include <span>
#include <vector>

#include "predict/journal.h"
#include "volume/box.h"
#include "volume/zarr_output.h"

namespace tacho {

// Writes a block's result, channels x box, as the chunks of the output that it covers; returns when they are
// durable.
DoneBlock write_block(const ZarrOutput& output, const Box& box, std::span<const float> result);

// Whether the block's chunks are there as they were written.
bool is_intact(const ZarrOutput& output, const Box& box, const DoneBlock& done);

}  // namespace tacho
