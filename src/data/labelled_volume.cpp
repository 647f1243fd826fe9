#include "data/labelled_volume.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "volume/hdf5_volume.h"
#include "volume/memory_volume.h"

namespace tacho {
namespace {

void check_pair(const VolumeInfo& raw, const VolumeInfo& labels) {
  if (raw.type != VoxelType::u8 && raw.type != VoxelType::u16 && raw.type != VoxelType::f32) {
    throw UserError("{}: holds {}; an image is uint8, uint16 or float32", raw.name, name_of(raw.type));
  }
  if (labels.type == VoxelType::f32) {
    throw UserError("{}: holds float32; labels are whole numbers", labels.name);
  }
  if (labels.shape != raw.shape) {
    throw UserError("{}: labels of {} voxels, but {} has {}", labels.name, to_string(labels.shape), raw.name,
                    to_string(raw.shape));
  }
}

}  // namespace

LabelledVolume::LabelledVolume(std::unique_ptr<Volume> raw, std::unique_ptr<Volume> labels)
    : raw_(std::move(raw)), labels_(std::move(labels)) {
  check_pair(raw_->info(), labels_->info());
}

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
