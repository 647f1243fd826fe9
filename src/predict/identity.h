#pragma once

#include <optional>

#include "base/json.h"
#include "base/tensor.h"
#include "engine/execution.h"
#include "predict/block_runner.h"
#include "volume/voxel_values.h"
#include "volume/zarr_output.h"

namespace tacho {

// What decides every byte of a prediction.
struct PredictionSubject {
  const std::string& model;
  const Weights& weights;
  Volume& input;
  const VoxelNormalization& normalization;
  const Execution& execution;  // of which the number of devices does not matter
  const BlockOptions& block;
  const ZarrDescription& output;
};

// Two calls that agree in it, but for its kRounding, can continue each other. Of the input it holds a
// checksum over a few boxes of voxels, not over all.
Json prediction_identity(const PredictionSubject& subject);

}  // namespace tacho
