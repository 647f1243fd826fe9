#pragma once

#include <string>

#include "data/data_set.h"
#include "graph/graph.h"
#include "tensors/model_weights.h"
#include "train/recipe.h"

// What a training run needs before its first step.
namespace tacho {

// The data that the recipe names, with the recipe's classes filled in where they are 0. The subset is not
// taken yet. Throws UserError where it cannot be read or does not fit.
DataSet open_training_data(Recipe& recipe);

// The data's own size where the network can take it, otherwise the network's.
Extents default_image(const Recipe& recipe, const DataSet& data);

// Throws UserError where the engine, the network and the data do not fit; otherwise the network's graphs.
TrainingGraphs check_recipe(const Recipe& recipe, const DataSet& data);

// The first `subset` images of each part of `data`, kept in `smaller`; `data` itself where that is all of it.
const DataSet& cut_to_subset(const DataSet& data, const std::optional<int64_t>& subset, DataSet& smaller);

// The recipe's weights, or random ones with which every residual block starts as its shortcut.
ModelWeights first_weights(const Recipe& recipe, const Graph& network);

}  // namespace tacho
