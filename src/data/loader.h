#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "data/order.h"
#include "data/transform.h"

namespace tacho {

struct LoaderOptions {
  int64_t batch = 32;
  int rank = 0, ranks = 1;  // this loader's batches are every `ranks`-th of the stream, from the `rank`-th on
  Extents image = {};       // what the network takes
  Augmentation augmentation = {};
  std::optional<uint64_t> shuffle_seed = {};  // nothing: file order
  uint64_t augmentation_seed = 0;
  int threads = 1;
  int prefetch = 4;         // batches that may be ready or under way, unless threads need more
  int64_t first_batch = 0;  // where in the stream of batches to begin

  // Every thread has one under way while another is ready.
  int batches_ahead() const { return std::max(prefetch, threads + 1); }
};

struct Batch {
  Tensor images;  // f32, B, C, H, W
  Tensor labels;  // i64, B
  std::vector<int64_t> indices;
};

// Threads that make batches ready before they are asked for. What they deliver depends on the options and the
// number of the batch alone, never on the threads. An error in a thread is thrown by next().
class Loader {
 public:
  // Throws OutOfMemory where its batches will not fit.
  Loader(const ImageSet& set, const Normalization& normalization, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch of the stream; it is the caller's until the next call.
  const Batch& next();
  // How long next() has waited for batches that were not ready.
  double wait_ms() const { return wait_ms_; }

 private:
  struct Work {
    int64_t number = 0;
    std::vector<Order::Place> places = {};
    Batch batch = {};
  };
  Work make_work() const;
  void work(const std::stop_token& stop);
  bool take(const std::stop_token& stop, Work& work);
  void fill(Work& work) const;

  const ImageSet& set_;
  LoaderOptions options_;
  Transform transform_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Order order_;
  int64_t next_to_take_, next_to_give_;
  std::vector<Work> idle_;
  std::map<int64_t, Work> ready_;
  std::exception_ptr failure_;
  Work given_;
  double wait_ms_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace tacho
