#include "session/volume_work.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "engine/engines.h"
#include "graph/receptive_field.h"
#include "models/zoo.h"
#include "session/predict_item.h"
#include "session/train_item.h"
#include "tensors/safetensors.h"
#include "train/training.h"

namespace tacho {
namespace {

// Below these there is little to learn or to cut into blocks.
constexpr Point kLeastWindow = {8, 64, 64}, kLeastSample = {24, 96, 96}, kLeastPredicted = {24, 128, 128};

// Of about `scale` of the voxels, with the same proportions.
Point shrunk(const Point& size, double scale, const Point& least) {
  Point smaller = {};
  for (size_t axis = 0; axis < size.size(); ++axis) {
    const double extent = static_cast<double>(size[axis]) * std::cbrt(scale);
    smaller[axis] = std::min(size[axis], std::max<int64_t>(least[axis], std::llround(extent)));
  }
  return smaller;
}

std::string instead_of(const char* what, const Point& now, const Point& published) {
  const double percent = 100 * static_cast<double>(voxels(now)) / static_cast<double>(voxels(published));
  return fmt::format("{} of {} instead of {} ({} % of the voxels)", what, to_string(now),
                     to_string(published),
                     percent < 10 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent));
}

std::filesystem::path weights_file(const Recipe& recipe, const VolumeFiles& files) {
  return files.folder / fmt::format("weights-{}.safetensors", recipe.execution.devices);
}

}  // namespace

VolumeWork volume_work(const std::string& model_name, double scale) {
  const Model& model = find_model(model_name);
  if (!learns_volumes(model))
    throw UserError("{} predicts no volumes: take unet3d or unet3d_lite", model.name);
  VolumeWork work = {.model = model_name};
  work.iterations = std::max<int64_t>(1, std::llround(scale * static_cast<double>(work.iterations)));
  work.sample = shrunk(work.sample, scale, kLeastSample);
  work.predicted = shrunk(work.predicted, scale, kLeastPredicted);
  const Point wanted = shrunk(work.window, scale, kLeastWindow);
  const auto window = largest_window(model, {wanted[0], wanted[1], wanted[2]}, work.sample);
  if (!window) throw std::logic_error("no window fits the smallest sample");
  std::ranges::copy(*window, work.window.begin());
  return work;
}

Point published_block(const std::string& model) {
  const Extents strides = total_strides(build_model(find_model(model), {.batch = 1}));
  Point block = {};
  for (size_t axis = 0; axis < block.size(); ++axis) {
    const int64_t around = 2 * kPublishedHalo[axis];
    block[axis] = (kPublishedBlock[axis] + around) / strides[axis] * strides[axis] - around;
  }
  return block;
}

std::string what_was_shrunk(const VolumeWork& work) {
  const VolumeWork published;
  std::vector<std::string> parts;
  if (work.model != published.model)
    parts.push_back(fmt::format("{} instead of {}", work.model, published.model));
  if (work.iterations != published.iterations)
    parts.push_back(fmt::format("{} iterations instead of {}", work.iterations, published.iterations));
  if (work.window != published.window) parts.push_back(instead_of("windows", work.window, published.window));
  if (work.predicted != published.predicted)
    parts.push_back(instead_of("a predicted volume", work.predicted, published.predicted));
  const Point block = published_block(work.model);
  if (work.published_halo && block != kPublishedBlock)
    parts.push_back(instead_of("blocks", block, kPublishedBlock));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Recipe volume_recipe(const VolumeWork& work, const VolumeFiles& files, int devices, int threads) {
  Recipe recipe;
  recipe.model = work.model;
  recipe.data = "cremi:" + files.sample.string();
  recipe.execution = {.engine = default_engine(), .devices = devices, .threads = threads};
  recipe.batch = 1;
  recipe.image.assign(work.window.begin(), work.window.end());
  recipe.classes = 0;
  recipe.steps = work.iterations;
  recipe.update = kVolumeAdam;
  recipe.schedule = ScheduleKind::constant;
  recipe.augmentation = "";
  return recipe;
}

void write_first_weights(const Recipe& recipe, const VolumeFiles& files) {
  write_safetensors(weights_file(recipe, files), first_weights(recipe, build_network(recipe)).weights);
}

WorkItems volume_items(const VolumeWork& work, const VolumeFiles& files, const Recipe& recipe,
                       const TrainingData& data) {
  TrainingJob training = {.recipe = recipe};
  training.save_weights = weights_file(recipe, files);
  PredictionJob prediction = {
      .model = work.model,
      .weights = *training.save_weights,
      .input = files.predicted.string(),
      .output = files.folder / fmt::format("prediction-{}.zarr", recipe.execution.devices),
      .execution = recipe.execution};
  if (work.published_halo) {
    prediction.block = published_block(work.model);
    prediction.halo = kPublishedHalo;
    // So that unet3d's packed weights do not take the room of such a block.
    prediction.execution.low_memory = !find_engine(recipe.execution.engine).why_no_low_memory();
  }
  WorkItems items = train_items({std::move(training)}, data);
  for (auto& item : predict_item(std::move(prediction), PredictionOutput::temporary))
    items.push_back(std::move(item));
  return items;
}

}  // namespace tacho
