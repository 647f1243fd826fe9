#pragma once

#include "predict/prediction.h"
#include "results/record.h"

namespace tacho {

// Interprets what a prediction gave. It has no figure of speed where this call computed no block.
Record make_predict_record(const PredictionJob& job, const PredictionResult& result,
                           const SystemInfo& system);

}  // namespace tacho
