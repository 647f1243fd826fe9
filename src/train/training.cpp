#include "train/training.h"

#include <algorithm>

#include "base/error.h"
#include "data/source.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"

namespace tacho {
namespace {

constexpr int64_t kSyntheticClasses = 10;
const Extents kSyntheticImage = {32, 32};

bool takes(const Recipe& recipe, const Extents& image) {
  try {
    build_model(find_model(recipe.model), {.image = image, .classes = recipe.classes});
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

DataSet open_training_data(Recipe& recipe) {
  SyntheticShape synthetic = {.classes = recipe.classes > 0 ? recipe.classes : kSyntheticClasses,
                              .image = recipe.image.empty() ? kSyntheticImage : recipe.image,
                              .seed = recipe.seed};
  if (recipe.subset) synthetic.images = *recipe.subset;
  DataSet data = open_data(recipe.data, synthetic);
  if (recipe.classes == 0) recipe.classes = data.classes;
  if (data.classes > recipe.classes) {
    throw UserError("--classes {}: {} has labels up to {}", recipe.classes, recipe.data, data.classes - 1);
  }
  if (recipe.subset && *recipe.subset > data.train.count()) {
    throw UserError("--subset {}: {} has {} training images", *recipe.subset, recipe.data,
                    data.train.count());
  }
  return data;
}

Extents default_image(const Recipe& recipe, const DataSet& data) {
  const Extents own = data.train.image();
  return takes(recipe, own) ? own : find_model(recipe.model).image;
}

TrainingGraphs check_recipe(const Recipe& recipe, const DataSet& data) {
  find_computing_engine(recipe.execution.engine);
  check_execution(recipe.execution, true);
  const Model& model = find_model(recipe.model);
  if (data.train.channels() != model.channels) {
    throw UserError("--data {}: images with {} channels, but {} takes {}", recipe.data, data.train.channels(),
                    model.name, model.channels);
  }
  const int64_t images = recipe.subset.value_or(data.train.count());
  if (global_batch(recipe) > images) {
    throw UserError("--batch {}: there are only {} training images, and none is twice in a batch",
                    global_batch(recipe), images);
  }
  return build_graphs(recipe);
}

const DataSet& cut_to_subset(const DataSet& data, const std::optional<int64_t>& subset, DataSet& smaller) {
  if (!subset || *subset >= std::max(data.train.count(), data.test.count())) return data;
  smaller.name = data.name;
  smaller.classes = data.classes;
  smaller.normalization = data.normalization;
  smaller.train = first_of(data.train, *subset);
  if (data.test.count() > 0) smaller.test = first_of(data.test, std::min(*subset, data.test.count()));
  return smaller;
}

ModelWeights first_weights(const Recipe& recipe, const Graph& network) {
  if (recipe.weights) return read_model_weights(*recipe.weights, find_model(recipe.model), network);
  Weights weights = initialize(network, recipe.seed);
  start_from_shortcuts(network, weights);
  return {std::move(weights)};
}

}  // namespace tacho
