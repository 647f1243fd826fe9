#include "data/volume_batches.h"

#include <algorithm>

#include "data/data_set.h"

namespace tacho {
namespace {

constexpr int64_t kAffinities = 3;
constexpr int64_t kHeldOutPart = 5;  // one in so many slices

// Where windows begin that cover an axis, evenly spread.
std::vector<int64_t> begins(int64_t begin, int64_t extent, int64_t window) {
  const int64_t count = (extent + window - 1) / window;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(begin + (count > 1 ? i * (extent - window) / (count - 1) : 0));
  return result;
}

}  // namespace

VolumeSplit split_volume(const Point& shape, const Point& window) {
  const int64_t held_out = std::max((shape[0] + kHeldOutPart - 1) / kHeldOutPart, window[0]);
  VolumeSplit split = {whole(shape), whole(shape)};
  split.train.end[0] = split.held_out.begin[0] = std::max<int64_t>(shape[0] - held_out, 0);
  return split;
}

ViewOf random_windows(const Box& region, const Point& window, const VolumeAugmentation& augmentation,
                      uint64_t seed) {
  const Random random = Random(seed).stream("windows");
  return [=](int64_t place) {
    return draw_volume_view(augmentation, region, window, random.stream(static_cast<uint64_t>(place)));
  };
}

std::vector<Point> tiles(const Box& region, const Point& window, int64_t most) {
  std::array<std::vector<int64_t>, 3> along;
  for (size_t axis = 0; axis < 3; ++axis)
    along[axis] = begins(region.begin[axis], region.size()[axis], window[axis]);
  std::vector<Point> all;
  for (const int64_t z : along[0])
    for (const int64_t y : along[1])
      for (const int64_t x : along[2]) all.push_back({z, y, x});
  const auto count = static_cast<int64_t>(all.size());
  if (count <= most) return all;
  std::vector<Point> some;
  for (int64_t i = 0; i < most; ++i) some.push_back(all[static_cast<size_t>(i * count / most)]);
  return some;
}

VolumeBatches::VolumeBatches(const LabelledVolume& volume, const Box& region, const Point& window,
                             const BatchShare& share, ViewOf view_of, VolumeTargets targets)
    : volume_(volume),
      region_(region),
      window_(window),
      share_(share),
      view_of_(std::move(view_of)),
      targets_(targets) {}

Batch VolumeBatches::make(int64_t count) const {
  const auto [depth, height, width] = window_;
  require_memory_for(count * share_.batch * (1 + kAffinities),
                     voxels(window_) * static_cast<int64_t>(sizeof(float)));
  return {Tensor({share_.batch, 1, depth, height, width}, DType::f32),
          Tensor({share_.batch, kAffinities, depth, height, width}, DType::f32)};
}

void VolumeBatches::fill(int64_t number, Batch& batch) const {
  const auto size = static_cast<size_t>(voxels(window_));
  for (int64_t i = 0; i < share_.batch; ++i) {
    const auto index = static_cast<size_t>(i);
    const std::span<float> affinities =
        batch.targets.values<float>().subspan(index * kAffinities * size, kAffinities * size);
    load_window(volume_, region_, window_, view_of_(share_.begin(number) + i),
                batch.images.values<float>().subspan(index * size, size), affinities);
    if (targets_ == VolumeTargets::boundaries)
      for (float& value : affinities) value = 1 - value;
  }
}

}  // namespace tacho
