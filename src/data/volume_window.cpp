#include "data/volume_window.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/affinities.h"
#include "data/elastic.h"

namespace tacho {
namespace {

// Back into [begin, end) as from mirrors on its first and last voxel.
double mirrored(double place, int64_t begin, int64_t end) {
  const auto first = static_cast<double>(begin), last = static_cast<double>(end - 1);
  if (first == last) return first;
  while (place < first || place > last) place = place < first ? 2 * first - place : 2 * last - place;
  return place;
}

// Where the slices of a window and of the one before it come from.
std::vector<int64_t> slices_of(const Box& region, const Point& window, const VolumeView& view) {
  std::vector<int64_t> slices;
  for (int64_t z = -1; z < window[0]; ++z) {
    const int64_t from = view.begin[0] + (view.flipped[0] ? window[0] - 1 - z : z);
    slices.push_back(
        static_cast<int64_t>(mirrored(static_cast<double>(from), region.begin[0], region.end[0])));
  }
  return slices;
}

// Where in the volume each pixel of a slice comes from, with the row and the column before the window.
struct Plane {
  std::vector<double> y, x;
};

Plane plane_of(const Box& region, const Point& window, const VolumeView& view) {
  const int64_t height = window[1] + 1, width = window[2] + 1;
  std::optional<ElasticField> field;
  if (view.elastic) field.emplace(height, width, *view.elastic);
  Plane plane;
  const auto along = [&](size_t axis, double place) {
    const double from = view.flipped[axis] ? static_cast<double>(window[axis] - 1) - place : place;
    return mirrored(static_cast<double>(view.begin[axis]) + from, region.begin[axis], region.end[axis]);
  };
  for (int64_t i = 0; i < height * width; ++i) {
    auto y = static_cast<double>(i / width - 1), x = static_cast<double>(i % width - 1);
    if (field) {
      y += static_cast<double>(field->along_y()[static_cast<size_t>(i)]);
      x += static_cast<double>(field->along_x()[static_cast<size_t>(i)]);
    }
    if (view.transposed) std::swap(y, x);
    plane.y.push_back(along(1, y));
    plane.x.push_back(along(2, x));
  }
  return plane;
}

// All that is needed of the volume.
Box box_of(const std::vector<int64_t>& slices, const Plane& plane) {
  const auto [z0, z1] = std::ranges::minmax(slices);
  const auto [y0, y1] = std::ranges::minmax(plane.y);
  const auto [x0, x1] = std::ranges::minmax(plane.x);
  return {{z0, static_cast<int64_t>(y0), static_cast<int64_t>(x0)},
          {z1 + 1, static_cast<int64_t>(std::ceil(y1)) + 1, static_cast<int64_t>(std::ceil(x1)) + 1}};
}

// A pixel as a mean of four of the box's slice, and the nearest of them.
struct Tap {
  uint32_t first, nearest;
  float down, right;  // shares of the lower and of the right ones
};

class Sampler {
 public:
  Sampler(const Plane& plane, const Box& box)
      : down_(box.size()[1] > 1 ? box.size()[2] : 0), right_(box.size()[2] > 1 ? 1 : 0) {
    const int64_t width = box.size()[2];
    for (size_t i = 0; i < plane.y.size(); ++i) {
      const double y = plane.y[i] - static_cast<double>(box.begin[1]),
                   x = plane.x[i] - static_cast<double>(box.begin[2]);
      const int64_t top = std::clamp<int64_t>(static_cast<int64_t>(y), 0,
                                              std::max<int64_t>(box.size()[1] - 2, 0)),
                    left = std::clamp<int64_t>(static_cast<int64_t>(x), 0, std::max<int64_t>(width - 2, 0));
      taps_.push_back({static_cast<uint32_t>(top * width + left),
                       static_cast<uint32_t>(std::llround(y) * width + std::llround(x)),
                       static_cast<float>(y - static_cast<double>(top)),
                       static_cast<float>(x - static_cast<double>(left))});
    }
  }

  void linear(const float* slice, float* out) const {
    for (size_t i = 0; i < taps_.size(); ++i) {
      const Tap& tap = taps_[i];
      const float* upper = slice + tap.first;
      const float* lower = upper + down_;
      const float above = upper[0] + tap.right * (upper[right_] - upper[0]);
      const float below = lower[0] + tap.right * (lower[right_] - lower[0]);
      out[i] = above + tap.down * (below - above);
    }
  }

  template<typename T>
  void nearest(const T* slice, uint64_t* out) const {
    for (size_t i = 0; i < taps_.size(); ++i) out[i] = static_cast<uint64_t>(slice[taps_[i].nearest]);
  }

 private:
  int64_t down_, right_;  // to the lower and to the right neighbour
  std::vector<Tap> taps_;
};

template<typename T>
void scale(const std::byte* voxels, std::span<float> out) {
  const auto* values = reinterpret_cast<const T*>(voxels);
  constexpr float kFactor = std::is_integral_v<T> ? 1 / static_cast<float>(std::numeric_limits<T>::max()) : 1;
  for (size_t i = 0; i < out.size(); ++i) out[i] = kFactor * static_cast<float>(values[i]);
}

void scale(VoxelType type, const std::byte* voxels, std::span<float> out) {
  if (type == VoxelType::u8) return scale<uint8_t>(voxels, out);
  if (type == VoxelType::u16) return scale<uint16_t>(voxels, out);
  scale<float>(voxels, out);
}

void sample_labels(const Sampler& sampler, VoxelType type, const std::byte* slice, uint64_t* out) {
  const auto as = [&]<typename T>(T) { sampler.nearest(reinterpret_cast<const T*>(slice), out); };
  switch (type) {
    case VoxelType::u8: return as(uint8_t{});
    case VoxelType::u16: return as(uint16_t{});
    case VoxelType::u32: return as(uint32_t{});
    default: return as(uint64_t{});
  }
}

// A window's slices are sampled one by one, from what one reading gave.
class Loading {
 public:
  Loading(const LabelledVolume& volume, const Box& box, const Sampler& sampler)
      : box_(box),
        sampler_(sampler),
        raw_type_(volume.raw().type),
        label_type_(volume.labels().type),
        raw_(static_cast<size_t>(voxels(box)) * size_of(raw_type_)),
        labels_(static_cast<size_t>(voxels(box)) * size_of(label_type_)),
        slice_(static_cast<size_t>(box.size()[1] * box.size()[2])) {
    volume.read(box, raw_, labels_);
  }

  void sample_raw(int64_t z, float* out) {
    scale(raw_type_, raw_.data() + slice_bytes(z, raw_type_), slice_);
    sampler_.linear(slice_.data(), out);
  }
  void labels(int64_t z, uint64_t* out) const {
    sample_labels(sampler_, label_type_, labels_.data() + slice_bytes(z, label_type_), out);
  }

 private:
  size_t slice_bytes(int64_t z, VoxelType type) const {
    return static_cast<size_t>(z - box_.begin[0]) * slice_.size() * size_of(type);
  }

  const Box& box_;
  const Sampler& sampler_;
  VoxelType raw_type_, label_type_;
  std::vector<std::byte> raw_, labels_;
  std::vector<float> slice_;
};

// Without the row and the column before the window.
void cut_out(std::span<const float> plane, const Point& window, float* out) {
  const auto width = static_cast<size_t>(window[2]);
  for (size_t y = 1; y <= static_cast<size_t>(window[1]); ++y, out += width)
    std::memcpy(out, plane.data() + y * (width + 1) + 1, width * sizeof(float));
}

}  // namespace

void load_window(const LabelledVolume& volume, const Box& region, const Point& window, const VolumeView& view,
                 std::span<float> raw, std::span<float> affinities) {
  const std::vector<int64_t> slices = slices_of(region, window, view);
  const Plane plane = plane_of(region, window, view);
  const Box box = box_of(slices, plane);
  const Sampler sampler(plane, box);
  Loading loading(volume, box, sampler);

  const size_t pixels = plane.y.size(), shown = static_cast<size_t>(window[1] * window[2]);
  std::vector<uint64_t> labels(slices.size() * pixels);
  std::vector<float> image(pixels);
  for (size_t z = 0; z < slices.size(); ++z) {
    loading.labels(slices[z], labels.data() + z * pixels);
    if (z == 0) continue;
    loading.sample_raw(slices[z], image.data());
    cut_out(image, window, raw.data() + (z - 1) * shown);
  }
  find_affinities(labels, window, affinities);
}

}  // namespace tacho
