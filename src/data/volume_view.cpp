#include "data/volume_view.h"

#include "base/error.h"
#include "base/text.h"

namespace tacho {
namespace {

bool coin(const Random& random, uint64_t draw) { return (random.bits(draw) >> 63) != 0; }

void turn(uint64_t quarters, VolumeView& view) {
  view.transposed = quarters % 2 == 1;
  view.flipped[1] ^= quarters == 1 || quarters == 2;
  view.flipped[2] ^= quarters == 2 || quarters == 3;
}

}  // namespace

VolumeAugmentation parse_volume_augmentation(std::string_view text) {
  VolumeAugmentation result;
  if (text == "none") return result;
  for (const std::string& word : split(text, ',')) {
    if (word == "flip") {
      result.flip = true;
    } else if (word == "rotate") {
      result.rotate = true;
    } else if (word == "elastic") {
      result.elastic = true;
    } else {
      throw UserError(
          "--augment '{}': for volumes there are none, flip, rotate and elastic, and lists of them", text);
    }
  }
  return result;
}

std::string_view name_of(VolumeTargets targets) {
  return targets == VolumeTargets::affinities ? "affinities" : "boundaries";
}

VolumeTargets parse_volume_targets(std::string_view name) {
  for (const VolumeTargets targets : {VolumeTargets::affinities, VolumeTargets::boundaries})
    if (name == name_of(targets)) return targets;
  throw UserError("--targets '{}': there are affinities and boundaries", name);
}

VolumeView draw_volume_view(const VolumeAugmentation& augmentation, const Box& region, const Point& window,
                            const Random& random) {
  VolumeView view;
  for (size_t axis = 0; axis < 3; ++axis) {
    const auto places = static_cast<uint64_t>(region.size()[axis] - window[axis] + 1);
    view.begin[axis] = region.begin[axis] + static_cast<int64_t>(random.bits(axis) % places);
    view.flipped[axis] = augmentation.flip && coin(random, 3 + axis);
  }
  if (augmentation.rotate) {
    const uint64_t quarters = random.bits(6) >> 62;
    turn(window[1] == window[2] ? quarters : quarters & 2, view);
  }
  if (augmentation.elastic) view.elastic = random.stream("elastic");
  return view;
}

}  // namespace tacho
