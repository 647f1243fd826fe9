#include "results/volume_slice.h"

#include <array>

#include "base/base64.h"
#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using S = VolumeSlice;

constexpr std::array kSlice = {
    entry<S, &S::name>("name"),
    entry<S, &S::width>("width"),
    entry<S, &S::height>("height"),
    entry<S, &S::pixels>("pixels"),
};

bool is_picture(const VolumeSlice& slice) {
  return slice.width > 0 && slice.height > 0 && slice.height <= VolumeSlice::kMostPixels / slice.width &&
         is_base64_of(slice.pixels, slice.width * slice.height);
}

}  // namespace

Json json_of(const VolumeSlice& slice) { return object_of<S>(kSlice, slice); }

void read(const Json& json, VolumeSlice& slice) {
  read_object<S>(kSlice, json, slice);
  if (!is_picture(slice)) throw UserError("must have width x height bytes of 'pixels' in base64");
}

}  // namespace tacho
