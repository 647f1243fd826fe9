#pragma once

#include <mutex>
#include <optional>

#include "data/batch_source.h"
#include "data/order.h"
#include "data/transform.h"

namespace tacho {

struct ImageBatchOptions {
  BatchShare share = {};
  std::optional<int64_t> subset = {};  // only the first images of the set
  Extents image = {};                  // what the network takes
  Augmentation augmentation = {};
  std::optional<uint64_t> shuffle_seed = {};  // nothing: file order
  uint64_t augmentation_seed = 0;
};

// Images of a set with their labels: each once in an epoch, changed by (seed, epoch, image). The set must
// outlive this.
class ImageBatches final : public BatchSource {
 public:
  ImageBatches(const ImageSet& set, const Normalization& normalization, ImageBatchOptions options);

  Batch make(int64_t count) const override;
  void fill(int64_t number, Batch& batch) const override;

 private:
  std::vector<Order::Place> places_of(int64_t number) const;

  const ImageSet& set_;
  ImageBatchOptions options_;
  Transform transform_;
  mutable std::mutex mutex_;  // of the order, which remembers the epoch it shuffled last
  mutable Order order_;
};

}  // namespace tacho
