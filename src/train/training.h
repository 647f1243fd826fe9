#pragma once

#include <memory>

#include "graph/graph.h"
#include "tensors/model_weights.h"
#include "train/recipe.h"
#include "train/training_data.h"
#include "train/volume_training.h"

// What a training run needs before its first step.
namespace tacho {

// Throws UserError where the data is not of the kind that the network learns from.
void require_data_for(const Model& model, const std::string& data);

// The data that the recipe names, with what the recipe leaves open filled in from it: classes, image and
// augmentation. Throws UserError where it cannot be read or is not for this network.
std::unique_ptr<TrainingData> open_training_data(Recipe& recipe, const VolumeOpening& opening);

// Throws UserError where the engine, the network and the data do not fit; otherwise the network's graphs.
TrainingGraphs check_recipe(const Recipe& recipe, const TrainingData& data);

// The recipe's weights, or random ones with which every residual block starts as its shortcut.
ModelWeights first_weights(const Recipe& recipe, const Graph& network);

}  // namespace tacho
