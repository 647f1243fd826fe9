#include "train/training.h"

#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "train/image_training.h"

namespace tacho {

std::unique_ptr<TrainingData> open_training_data(Recipe& recipe) {
  auto images = std::make_unique<ImageTraining>(open_training_images(recipe));
  if (recipe.augmentation.empty()) recipe.augmentation = images->data().default_augmentation;
  if (recipe.image.empty()) recipe.image = default_image(recipe, images->data());
  return images;
}

TrainingGraphs check_recipe(const Recipe& recipe, const TrainingData& data) {
  find_computing_engine(recipe.execution.engine);
  check_execution(recipe.execution, true);
  data.check(recipe);
  return build_graphs(recipe);
}

ModelWeights first_weights(const Recipe& recipe, const Graph& network) {
  if (recipe.weights) return read_model_weights(*recipe.weights, find_model(recipe.model), network);
  Weights weights = initialize(network, recipe.seed);
  start_from_shortcuts(network, weights);
  return {std::move(weights)};
}

}  // namespace tacho
