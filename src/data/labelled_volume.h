#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include "volume/volume.h"

namespace tacho {

// A volume's image and the label of each of its voxels.
class LabelledVolume {
 public:
  // Where labels say by their offset which part of the image they are of, it is that part. Throws UserError
  // where they are no such pair.
  LabelledVolume(std::unique_ptr<Volume> raw, std::unique_ptr<Volume> labels);

  const Point& shape() const { return raw_->info().shape; }
  const VolumeInfo& raw() const { return raw_->info(); }
  const VolumeInfo& labels() const { return labels_->info(); }
  int64_t bytes() const;

  // Reads all of it now: from then on windows come from memory.
  void keep_in_memory();
  bool is_in_memory() const { return in_memory_; }

  // The voxels of a box inside it, in their own types. By any number of threads.
  void read(const Box& box, std::span<std::byte> raw, std::span<std::byte> labels) const;

 private:
  std::unique_ptr<Volume> raw_, labels_;
  bool in_memory_ = false;
  mutable std::mutex mutex_;  // files are read by one thread at a time, both of them
};

// `F.h5`, or `F.h5,/path/of/raw,/path/of/labels` where they are not called as in CREMI's files; a zarr
// directory likewise. Throws UserError.
std::unique_ptr<LabelledVolume> open_cremi(std::string_view place);

}  // namespace tacho
