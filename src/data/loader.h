#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "data/batch_source.h"

namespace tacho {

struct LoaderOptions {
  int threads = 1;
  int prefetch = 4;         // batches that may be ready or under way, unless threads need more
  int64_t first_batch = 0;  // where in the stream of batches to begin

  // Every thread has one under way while another is ready.
  int batches_ahead() const { return std::max(prefetch, threads + 1); }
};

// Threads that make batches ready before they are asked for. What they deliver depends on the source and the
// number of the batch alone, never on the threads. An error in a thread is thrown by next().
class Loader {
 public:
  // Throws OutOfMemory where its batches will not fit.
  Loader(std::unique_ptr<const BatchSource> source, LoaderOptions options);
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
    Batch batch = {};
  };
  void work(const std::stop_token& stop);
  bool take(const std::stop_token& stop, Work& work);

  std::unique_ptr<const BatchSource> source_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int64_t next_to_take_, next_to_give_;
  std::vector<Work> idle_;
  std::map<int64_t, Work> ready_;
  std::exception_ptr failure_;
  Work given_;
  double wait_ms_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace tacho
