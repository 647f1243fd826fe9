#include "data/labelled_volume.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "volume/hdf5_volume.h"
#include "volume/memory_volume.h"

namespace tacho {
namespace {

constexpr double kBetweenVoxels = 1e-3;  // a place that is farther from a voxel is between two

void check_pair(const VolumeInfo& raw, const VolumeInfo& labels) {
  if (raw.type != VoxelType::u8 && raw.type != VoxelType::u16 && raw.type != VoxelType::f32) {
    throw UserError("{}: holds {}; an image is uint8, uint16 or float32", raw.name, name_of(raw.type));
  }
  if (labels.type == VoxelType::f32) {
    throw UserError("{}: holds float32; labels are whole numbers", labels.name);
  }
}

// Which part of the image has labels. Nothing where they do not say it, or lie outside or between voxels.
std::optional<Box> labelled_part(const VolumeInfo& raw, const VolumeInfo& labels) {
  if (raw.shape == labels.shape) return whole(raw.shape);
  if (!labels.offset) return {};
  constexpr std::array<double, 3> origin = {};
  Box part;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const double begin = (*labels.offset)[axis] - raw.offset.value_or(origin)[axis];
    if (!(begin > -kBetweenVoxels && begin + static_cast<double>(labels.shape[axis]) <
                                         static_cast<double>(raw.shape[axis]) + kBetweenVoxels))
      return {};
    part.begin[axis] = std::llround(begin);
    part.end[axis] = part.begin[axis] + labels.shape[axis];
    if (std::abs(begin - static_cast<double>(part.begin[axis])) > kBetweenVoxels) return {};
  }
  return part;
}

// A box of a volume as a volume of its own.
class PartOfVolume final : public Volume {
 public:
  PartOfVolume(std::unique_ptr<Volume> all, const Box& part)
      : all_(std::move(all)), part_(part), info_(all_->info()) {
    info_.shape = part.size();
  }

  const VolumeInfo& info() const override { return info_; }

  void read(const Box& box, std::span<std::byte> voxels) override {
    Box in_all = box;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      in_all.begin[axis] += part_.begin[axis];
      in_all.end[axis] += part_.begin[axis];
    }
    all_->read(in_all, voxels);
  }

 private:
  std::unique_ptr<Volume> all_;
  Box part_;
  VolumeInfo info_;
};

std::unique_ptr<Volume> with_labels_only(std::unique_ptr<Volume> raw, const VolumeInfo& labels) {
  check_pair(raw->info(), labels);
  const auto part = labelled_part(raw->info(), labels);
  if (!part) {
    throw UserError("{}: labels of {} voxels{}, but {} has {}", labels.name, to_string(labels.shape),
                    labels.offset ? fmt::format(" at {}", fmt::join(*labels.offset, ",")) : "",
                    raw->info().name, to_string(raw->info().shape));
  }
  if (*part == whole(raw->info().shape)) return raw;
  return std::make_unique<PartOfVolume>(std::move(raw), *part);
}

}  // namespace

LabelledVolume::LabelledVolume(std::unique_ptr<Volume> raw, std::unique_ptr<Volume> labels)
    : raw_(with_labels_only(std::move(raw), labels->info())), labels_(std::move(labels)) {}

int64_t LabelledVolume::bytes() const { return bytes_of(raw_->info()) + bytes_of(labels_->info()); }

void LabelledVolume::keep_in_memory() {
  raw_ = into_memory(*raw_);
  labels_ = into_memory(*labels_);
  in_memory_ = true;
}

void LabelledVolume::read(const Box& box, std::span<std::byte> raw, std::span<std::byte> labels) const {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!in_memory_) lock.lock();
  raw_->read(box, raw);
  labels_->read(box, labels);
}

std::unique_ptr<LabelledVolume> open_cremi(std::string_view place) {
  const std::vector<std::string> parts = split(place, ',');
  if (parts.size() != 1 && parts.size() != 3) {
    throw UserError("--data cremi:{}: write cremi:F.h5, or cremi:F.h5,/path/of/raw,/path/of/labels", place);
  }
  const auto open = [&](const std::string& path) {
    return open_volume(fmt::format("{}:{}", parts[0], path));
  };
  const bool named = parts.size() == 3;
  return std::make_unique<LabelledVolume>(open(named ? parts[1] : kCremiRaw),
                                          open(named ? parts[2] : kCremiNeuronIds));
}

}  // namespace tacho
