#include "predict/block_slices.h"

#include <algorithm>
#include <cmath>

#include "base/base64.h"

namespace tacho {
namespace {

// The values of `part`, a section, out of a box.
std::vector<float> values_of(const Box& part, const Box& box, std::span<const float> values) {
  const Point size = box.size();
  std::vector<float> picture;
  picture.reserve(static_cast<size_t>(voxels(part)));
  for (int64_t y = part.begin[1]; y < part.end[1]; ++y) {
    const int64_t row = (part.begin[0] - box.begin[0]) * size[1] + (y - box.begin[1]);
    const auto begin = static_cast<size_t>(row * size[2] + part.begin[2] - box.begin[2]);
    const auto line = values.subspan(begin, static_cast<size_t>(part.size()[2]));
    picture.insert(picture.end(), line.begin(), line.end());
  }
  return picture;
}

VolumeSlice slice_of(const char* name, const Point& size, std::span<const float> values, float black,
                     float white) {
  std::vector<uint8_t> pixels;
  pixels.reserve(values.size());
  for (const float value : values) {
    const float share = white > black ? (value - black) / (white - black) : 0;
    pixels.push_back(
        std::isfinite(share) ? static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.0f, 1.0f))) : 0);
  }
  return {.name = name, .width = size[2], .height = size[1], .pixels = to_base64(pixels)};
}

}  // namespace

Box pictured(const Box& block) {
  Box part = block;
  part.begin[0] = block.begin[0] + block.size()[0] / 2;
  part.end[0] = part.begin[0] + 1;
  for (const size_t axis : {size_t{1}, size_t{2}}) {
    const int64_t side = std::min(kSliceSide, block.size()[axis]);
    part.begin[axis] += (block.size()[axis] - side) / 2;
    part.end[axis] = part.begin[axis] + side;
  }
  return part;
}

std::vector<VolumeSlice> block_slices(const Box& block, const Box& input_box, std::span<const float> input,
                                      std::span<const float> result) {
  const Box part = pictured(block);
  const std::vector<float> seen = values_of(part, input_box, input);
  const auto [darkest, lightest] = std::ranges::minmax(seen);
  std::vector<VolumeSlice> slices = {slice_of("input", part.size(), seen, darkest, lightest)};
  const auto channel_voxels = static_cast<size_t>(voxels(block));
  std::vector<float> least = values_of(part, block, result.first(channel_voxels)), greatest = least;
  for (size_t begin = channel_voxels; begin < result.size(); begin += channel_voxels) {
    const std::vector<float> channel = values_of(part, block, result.subspan(begin, channel_voxels));
    std::ranges::transform(least, channel, least.begin(), [](float a, float b) { return std::min(a, b); });
    std::ranges::transform(greatest, channel, greatest.begin(),
                           [](float a, float b) { return std::max(a, b); });
  }
  slices.push_back(slice_of("least output", part.size(), least, 0, 1));
  slices.push_back(slice_of("greatest output", part.size(), greatest, 0, 1));
  return slices;
}

}  // namespace tacho
