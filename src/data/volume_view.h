#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/random.h"
#include "volume/box.h"

namespace tacho {

// What may happen to a window of a volume before it is trained on.
struct VolumeAugmentation {
  bool flip = false;  // along each axis, every other time
  bool rotate =
      false;  // in the plane, by 0, 90, 180 or 270 degrees; by 0 or 180 where the window is no square
  bool elastic = false;  // in the plane, all slices alike: see ElasticField
};

inline constexpr std::string_view kAllVolumeAugmentation = "flip,rotate,elastic";

// "none", or some of flip, rotate and elastic, with commas. Throws UserError for anything else.
VolumeAugmentation parse_volume_augmentation(std::string_view text);

// What a network should answer for each voxel: its affinities, or 1 minus them.
enum class VolumeTargets { affinities, boundaries };

std::string_view name_of(VolumeTargets targets);
// Throws UserError that names both.
VolumeTargets parse_volume_targets(std::string_view name);

// How a window shows a part of a volume: the voxel (z, y, x) of the window lies at `begin` plus, first of all
// moved by the elastic field, then with y and x swapped, then counted from the other end along each flipped
// axis.
struct VolumeView {
  Point begin = {};
  std::array<bool, 3> flipped = {};
  bool transposed = false;
  std::optional<Random> elastic = {};
};

// One whose part lies anywhere in `region`, in which there is room for it. A pure function of the random
// stream.
VolumeView draw_volume_view(const VolumeAugmentation& augmentation, const Box& region, const Point& window,
                            const Random& random);

}  // namespace tacho
