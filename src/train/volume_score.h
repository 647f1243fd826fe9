#pragma once

#include <span>
#include <vector>

#include "data/volume_view.h"
#include "results/epoch.h"

namespace tacho {

// How well affinities were predicted: the Dice loss of each window, and over all voxels how well boundaries,
// where the affinity is 0, are told by predictions below one half. Beside it, what the best answer would lose
// that is the same number everywhere, of each channel its own: who loses as much has learnt nothing.
class VolumeScore {
 public:
  explicit VolumeScore(VolumeTargets targets = VolumeTargets::affinities);

  // One window: `channels` planes of predictions between 0 and 1, and of targets that are 0 or 1.
  void add(std::span<const float> predictions, std::span<const float> targets);

  // All that it remembers, for sums of the scores of several.
  std::span<const double> sums() const { return sums_; }
  void set_sums(std::vector<double> sums) { sums_ = std::move(sums); }

  // Sets the epoch's test loss, constant loss and F1 of boundaries.
  void report(Epoch& epoch) const;

 private:
  VolumeTargets targets_;
  std::vector<double> sums_;
};

}  // namespace tacho
