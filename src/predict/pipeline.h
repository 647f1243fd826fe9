#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "predict/block_runner.h"
#include "predict/dealer.h"
#include "predict/journal.h"
#include "predict/tiling.h"
#include "results/volume_slice.h"
#include "volume/voxel_values.h"
#include "volume/zarr_output.h"

namespace tacho {

// What a prediction goes through. All of it must outlive the pipeline.
struct PipelineParts {
  Volume& input;
  VoxelNormalization normalization;
  Border border;
  Tiling tiling;
  BlockRunner& network;
  const ZarrOutput& output;  // whose chunks are blocks or divide them
  Journal& journal;
  Dealer& blocks;
  std::optional<int64_t> pictured_block = {};
};

// What this rank did.
struct PipelineFigures {
  int64_t blocks = 0;
  int64_t output_voxels = 0, input_voxels = 0;  // written; seen by the network, halos included
  int64_t bytes_read = 0, bytes_written = 0;    // as the input stores voxels; of chunks
  double seconds = 0;
  double flop = 0;
  double network_ms = 0;                          // at work
  double input_wait_ms = 0, output_wait_ms = 0;   // the network, for a block and for the writer
  double reader_wait_ms = 0, writer_wait_ms = 0;  // those around it, for the network
  std::vector<VolumeSlice> slices = {};           // see block_slices(), where this rank had that block
};

struct PipelineHooks {
  std::function<void(int64_t blocks)> on_block = {};  // durable so far; by one thread at a time
  std::function<bool()> should_stop = {};             // finishes the blocks under way
};

// What blocks on their way hold at the most, beside the network.
int64_t pipeline_bytes(int64_t input_voxels, int64_t output_values);

// Reads, prepares, computes, converts and writes the blocks that are dealt to this rank, each step on a
// thread of its own and the network on the calling one. Throws what went wrong in any of them; then nobody
// gets further blocks.
PipelineFigures run_pipeline(const PipelineParts& parts, const PipelineHooks& hooks);

}  // namespace tacho
