#include "results/volume_slice.h"

#include <array>

#include "base/base64.h"
#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using Picture = VolumeSlice;

constexpr std::array kSlice = {
    entry<Picture, &Picture::name>("name"),
    entry<Picture, &Picture::width>("width"),
    entry<Picture, &Picture::height>("height"),
    entry<Picture, &Picture::pixels>("pixels"),
};

bool is_picture(const VolumeSlice& slice) {
  return slice.width > 0 && slice.height > 0 && slice.height <= VolumeSlice::kMostPixels / slice.width &&
         is_base64_of(slice.pixels, slice.width * slice.height);
}

}  // namespace

Json json_of(const VolumeSlice& slice) { return object_of<Picture>(kSlice, slice); }

void read(const Json& json, VolumeSlice& slice) {
  read_object<Picture>(kSlice, json, slice);
  if (!is_picture(slice)) throw UserError("must have width x height bytes of 'pixels' in base64");
}

}  // namespace tacho
