#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tacho {

// Images with their labels, in memory as they are stored: u8 that are normalised when they are loaded, or f32
// that are used as they are.
struct ImageSet {
  Tensor images;  // N, C, H, W
  std::vector<int64_t> labels;

  int64_t count() const { return images.shape().empty() ? 0 : images.shape()[0]; }
  int64_t channels() const { return images.shape()[1]; }
  Extents image() const { return spatial(images.shape()); }
};

// Of each channel, in units of 0..1.
struct Normalization {
  std::vector<float> mean, deviation;
};

struct DataSet {
  std::string name;
  int64_t classes = 0;
  ImageSet train, test;              // no image in `test` where the data set has none
  Normalization normalization = {};  // of u8 images
  std::string default_augmentation = "none";
};

// Throws OutOfMemory where `count` times `bytes_each` are not available, also where int64 cannot hold them.
void require_memory_for(int64_t count, int64_t bytes_each);

}  // namespace tacho
