#include "train/volume_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "train/volume_score.h"

namespace tacho {
namespace {

constexpr std::string_view kKind = "cremi:";
// A volume that takes no more than this part of the available memory is read into it.
constexpr int64_t kMemoryPart = 4;
constexpr int64_t kMostTiles = 32;
constexpr int64_t kEpochs = 10;  // in a run, where nobody says how long one is

Point point_of(const Extents& extents) { return {extents[0], extents[1], extents[2]}; }

bool takes(const Model& model, const Extents& image) {
  try {
    build_model(model, {.image = image});
    return true;
  } catch (const UserError&) {
    return false;
  }
}

void require_room(const Recipe& recipe, const Point& shape) {
  const Model& model = find_model(recipe.model);
  build_model(model, {.image = recipe.image});
  const std::optional<Extents> largest = largest_window(model, recipe.image, shape);
  if (largest == recipe.image) return;
  throw UserError(
      "--image {}: {} has {} voxels, with room for windows of {}: half of its slices at most, since as many "
      "are held "
      "out",
      to_string(recipe.image), recipe.data, to_string(shape),
      largest ? to_string(*largest) : "no size that fits");
}

}  // namespace

VolumeTraining::VolumeTraining(std::unique_ptr<LabelledVolume> volume, const Extents& window,
                               int64_t epoch_steps)
    : volume_(std::move(volume)),
      window_(point_of(window)),
      split_(split_volume(volume_->shape(), window_)),
      tiles_(tiles(split_.held_out, window_, kMostTiles)),
      epoch_steps_(epoch_steps) {}

std::unique_ptr<BatchSource> VolumeTraining::batches(const Recipe& recipe, const BatchShare& share) const {
  return std::make_unique<VolumeBatches>(
      *volume_, split_.train, window_, share,
      random_windows(split_.train, window_, parse_volume_augmentation(recipe.augmentation), recipe.seed),
      recipe.targets);
}

bool VolumeTraining::evaluate(const Recipe& recipe, Evaluator& network, Epoch& epoch) const {
  const auto view_of = [this](int64_t place) {
    return VolumeView{.begin = tiles_[static_cast<size_t>(place) % tiles_.size()]};
  };
  auto source = std::make_unique<VolumeBatches>(*volume_, split_.held_out, window_, network.share(), view_of,
                                                recipe.targets);
  VolumeScore score(recipe.targets);
  const auto voxels_each = static_cast<size_t>(voxels(window_)) * 3;
  const auto see = [&](const Evaluator::Prediction& seen) {
    for (size_t i = 0; i < static_cast<size_t>(seen.images); ++i) {
      score.add(seen.output.values<float>().subspan(i * voxels_each, voxels_each),
                seen.batch.targets.values<float>().subspan(i * voxels_each, voxels_each));
    }
  };
  if (!network.run(std::move(source), static_cast<int64_t>(tiles_.size()), see)) return false;
  score.set_sums(network.sum(score.sums()));
  score.report(epoch);
  return true;
}

std::string VolumeTraining::held_out() const {
  return fmt::format("slices {}-{} held out", split_.held_out.begin[0], split_.held_out.end[0] - 1);
}

std::string VolumeTraining::note() const {
  return fmt::format(
      "{}: {} of {} voxels, judged by {} windows of {} every {} steps; windows are read from {}",
      volume_->raw().name, held_out(), to_string(volume_->shape()), tiles_.size(), to_string(window_),
      epoch_steps_, volume_->is_in_memory() ? "memory" : "the file: it takes too much memory");
}

bool is_volume(std::string_view data) { return data.starts_with(kKind); }

std::optional<Extents> largest_window(const Model& model, const Extents& wanted, const Point& volume) {
  const Extents limits = {volume[0] / 2, volume[1], volume[2]};
  Extents window = model.image;
  for (size_t axis = 0; axis < window.size(); ++axis) {
    window[axis] = std::min(wanted[axis], limits[axis]);
    while (window[axis] > 0 && !takes(model, window)) --window[axis];
    if (window[axis] == 0) return {};
  }
  return window;
}

std::unique_ptr<VolumeTraining> open_training_volume(Recipe& recipe, const VolumeOpening& opening) {
  const Model& model = find_model(recipe.model);
  auto volume = open_cremi(std::string_view(recipe.data).substr(kKind.size()));
  if (recipe.image.empty()) {
    recipe.image = largest_window(model, model.image, volume->shape()).value_or(model.image);
  }
  require_room(recipe, volume->shape());
  if (recipe.augmentation.empty()) recipe.augmentation = kAllVolumeAugmentation;
  parse_volume_augmentation(recipe.augmentation);
  if (volume->bytes() <= available_memory_bytes() / kMemoryPart / opening.processes) volume->keep_in_memory();
  const int64_t steps = total_steps(recipe, 1);
  auto training = std::make_unique<VolumeTraining>(
      std::move(volume), recipe.image, opening.epoch_steps.value_or((steps + kEpochs - 1) / kEpochs));
  recipe.held_out = training->held_out();
  return training;
}

}  // namespace tacho
