#pragma once

#include "predict/prediction.h"
#include "session/bench_items.h"

namespace tacho {

// Whether its output outlives the call: then what was interrupted can be gone on with.
enum class PredictionOutput { kept, temporary };

// A prediction as one item.
WorkItems predict_item(PredictionJob job, PredictionOutput output = PredictionOutput::kept);

}  // namespace tacho
