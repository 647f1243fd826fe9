#pragma once

#include <functional>
#include <vector>

#include "data/batch_source.h"
#include "data/volume_window.h"

namespace tacho {

// A volume's slices for training, and the last ones, which are for judging alone.
struct VolumeSplit {
  Box train, held_out;
};

// A fifth is held out, but at least the depth of a window. Both parts have room for one where the volume has
// twice its depth.
VolumeSplit split_volume(const Point& shape, const Point& window);

// Which part of a volume the window at this place of the stream shows, and how.
using ViewOf = std::function<VolumeView(int64_t place)>;

// Windows anywhere in a region, drawn by (seed, place).
ViewOf random_windows(const Box& region, const Point& window, const VolumeAugmentation& augmentation,
                      uint64_t seed);

// Windows that cover a region, as few as can; where they are more than `most`, so many of them, evenly
// spread.
std::vector<Point> tiles(const Box& region, const Point& window, int64_t most);

// Windows of a region of a volume, which must outlive this, with their targets.
class VolumeBatches final : public BatchSource {
 public:
  VolumeBatches(const LabelledVolume& volume, const Box& region, const Point& window, const BatchShare& share,
                ViewOf view_of, VolumeTargets targets = VolumeTargets::affinities);

  Batch make(int64_t count) const override;
  void fill(int64_t number, Batch& batch) const override;

 private:
  const LabelledVolume& volume_;
  Box region_;
  Point window_;
  BatchShare share_;
  ViewOf view_of_;
  VolumeTargets targets_;
};

}  // namespace tacho
