#pragma once

#include "data/labelled_volume.h"
#include "data/volume_batches.h"
#include "train/training_data.h"

namespace tacho {

// A volume with labels: networks learn affinities from random windows of its first slices, and are judged by
// windows that cover its last ones, which training never sees. An epoch is a number of steps.
class VolumeTraining final : public TrainingData {
 public:
  VolumeTraining(std::unique_ptr<LabelledVolume> volume, const Extents& window, int64_t epoch_steps);

  void check(const Recipe&) const override {}  // open_training_volume() did
  int64_t epoch_images(const Recipe& recipe) const override { return epoch_steps_ * global_batch(recipe); }
  std::unique_ptr<BatchSource> batches(const Recipe& recipe, const BatchShare& share) const override;
  bool evaluate(const Recipe& recipe, Evaluator& network, Epoch& epoch) const override;
  std::string note() const override;

  // "slices 51-63 held out".
  std::string held_out() const;

 private:
  std::unique_ptr<LabelledVolume> volume_;
  Point window_;
  VolumeSplit split_;
  std::vector<Point> tiles_;
  int64_t epoch_steps_;
};

// Whether the data is a volume: `cremi:...`.
bool is_volume(std::string_view data);

struct VolumeOpening {
  std::optional<int64_t> epoch_steps = {};  // nothing: a tenth of the run
  int processes = 1;                        // of this machine that open it
};

// The volume that the recipe names, with the recipe's image and augmentation filled in where they are open.
// Throws UserError where it cannot be read or has no room for the window.
std::unique_ptr<VolumeTraining> open_training_volume(Recipe& recipe, const VolumeOpening& opening);

// The largest window, up to `wanted`, that the network takes and of which the volume has room for two, one
// before the other along z: one to train with and one held out. Nothing where there is none.
std::optional<Extents> largest_window(const Model& model, const Extents& wanted, const Point& volume);

}  // namespace tacho
