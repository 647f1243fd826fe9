#pragma once

#include <span>

#include "data/labelled_volume.h"
#include "data/volume_view.h"

namespace tacho {

// What a network is shown of a volume, and what it should answer: `raw` takes the window's image, integers
// scaled to 0..1 by their type's range, and interpolated linearly where it is deformed; `affinities` those of
// the labels as they look in the window (see find_affinities). What lies beyond `region`, which may be next
// to the window, is mirrored: nothing outside it is read.
void load_window(const LabelledVolume& volume, const Box& region, const Point& window, const VolumeView& view,
                 std::span<float> raw, std::span<float> affinities);

}  // namespace tacho
