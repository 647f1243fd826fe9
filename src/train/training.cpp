#include "train/training.h"

#include "base/error.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "train/image_training.h"

namespace tacho {

void require_data_for(const Model& model, const std::string& data) {
  if (is_volume(data) == learns_volumes(model)) return;
  if (learns_volumes(model)) {
    throw UserError("--data {}: {} is trained on volumes, cremi:F.h5; images with labels are for classifiers",
                    data, model.name);
  }
  throw UserError("--data {}: {} is a classifier, trained on images with labels; volumes are for 3D U-Nets",
                  data, model.name);
}

std::unique_ptr<TrainingData> open_training_data(Recipe& recipe, const VolumeOpening& opening) {
  require_data_for(find_model(recipe.model), recipe.data);
  if (is_volume(recipe.data)) return open_training_volume(recipe, opening);
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
