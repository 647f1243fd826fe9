#pragma once

#include <vector>

#include "base/tensor.h"

namespace tacho {

// What a network takes in one step.
struct Batch {
  Tensor images;                      // f32: B, C, spatial...
  Tensor targets;                     // i64 labels: B; f32 affinities of volumes: B, 3, D, H, W
  std::vector<int64_t> indices = {};  // of the images in their set; none where they are windows of a volume
};

// Which of a stream's batches are whose: every `ranks`-th, from the `rank`-th on.
struct BatchShare {
  int64_t batch = 1;  // images in each
  int rank = 0, ranks = 1;

  // In the stream of images, of the first image of this rank's batch.
  int64_t begin(int64_t number) const { return (number * ranks + rank) * batch; }
};

// An endless stream of batches, each a function of its number alone.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // An empty batch to be filled. Throws OutOfMemory where `count` of them would not fit.
  virtual Batch make(int64_t count) const = 0;
  // By several threads at once, each with a batch of its own.
  virtual void fill(int64_t number, Batch& batch) const = 0;
};

}  // namespace tacho
