#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tacho {

// Which image stands where in the endless stream of epochs. Each epoch holds every image exactly once, in
// file order or shuffled by (seed, epoch). The stream does not stop between epochs, so batches may cross
// their border and all have the same size.
class Order {
 public:
  // Without a seed: file order.
  Order(int64_t images, std::optional<uint64_t> shuffle_seed) : images_(images), seed_(shuffle_seed) {}

  struct Place {
    int64_t epoch, image;
  };
  Place at(int64_t position);

 private:
  void shuffle(int64_t epoch);

  int64_t images_;
  std::optional<uint64_t> seed_;
  int64_t shuffled_epoch_ = -1;
  std::vector<int64_t> shuffled_;
};

}  // namespace tacho
