#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "distributed/world.h"
#include "engine/execution.h"
#include "predict/pipeline.h"

namespace tacho {

// A prediction as it was asked for.
struct PredictionJob {
  std::string model = {};
  std::filesystem::path weights = {};
  std::string input = {};  // see open_volume()
  std::filesystem::path output = {};
  Execution execution = {};
  std::optional<Point> block = {}, chunk = {}, halo = {};  // chosen; the block; exact
  Border border = Border::reflect;
  VoxelType type = VoxelType::u8;
  Compression compression = Compression::blosc;
  std::optional<VoxelNormalization> normalization = {};  // by the range of the input's type
  bool resume = false;
};

// What came out, over all ranks.
struct PredictionResult {
  Point volume = {}, block = {};
  int64_t blocks = 0, blocks_before = 0, all_blocks = 0;  // done now; found done; of the volume
  bool stopped_checking = false;  // before it knew what was done; then nothing else counts
  int64_t output_voxels = 0, input_voxels = 0, bytes_read = 0, bytes_written = 0;
  double seconds = 0;     // from the first voxel read to the last one durable, on the slowest rank
  double compile_ms = 0;  // choosing the block, compiling
  double network_ms = 0;  // means over the ranks, as all below
  double input_wait_ms = 0, output_wait_ms = 0, reader_wait_ms = 0, writer_wait_ms = 0;
  double saved_share = 0;                         // of the work, since layers compute only what is needed
  double flop = 0;                                // of the blocks done now
  int64_t plan_bytes = 0, peak_memory_bytes = 0;  // of the rank that holds most
  std::vector<std::string> hosts = {};            // by rank
  bool has_cores = true;
  std::vector<VolumeSlice> slices = {};  // of the middle one of the blocks done now; the same on all ranks
};

struct PredictionHooks {
  std::function<void(const std::string& text)> note = {};
  // On rank 0, of all ranks as far as it knows: those that are done are checked; blocks are done.
  std::function<void(int64_t checked, int64_t all)> on_check = {};
  std::function<void(int64_t done, int64_t all)> on_block = {};
  std::function<bool()> should_stop = {};
};

// Throws UserError for what can never run as it is written.
void check_prediction(const PredictionJob& job);

// All ranks of the world at once; nothing where this one has no part. Throws UserError on every rank where
// anything goes wrong; what was written until then can be gone on with.
std::optional<PredictionResult> predict(const PredictionJob& job, World& world,
                                        const std::filesystem::path& kernel_cache,
                                        const PredictionHooks& hooks);

}  // namespace tacho
