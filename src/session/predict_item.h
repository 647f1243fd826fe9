#pragma once

#include "predict/prediction.h"
#include "session/bench_items.h"

namespace tacho {

// A prediction as one item.
WorkItems predict_item(PredictionJob job);

}  // namespace tacho
