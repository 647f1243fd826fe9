#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "distributed/communicator.h"

namespace tacho {

// For tests: ranks that are threads of one process.
class ThreadRank final : public Communicator {
 public:
  struct Post {
    std::mutex mutex = {};
    std::condition_variable came = {};
    std::map<std::tuple<int64_t, int, int>, std::deque<std::vector<std::byte>>> messages =
        {};  // channel, from, to
  };

  ThreadRank(Post& post, int64_t channel, int rank, int size)
      : post_(post), channel_(channel), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from) override {
    std::unique_lock lock(post_.mutex);
    if (!out.empty()) {
      post_.messages[{channel_, rank_, to}].emplace_back(out.begin(), out.end());
      post_.came.notify_all();
    }
    if (in.empty()) return;
    auto& waiting = post_.messages[{channel_, from, rank_}];
    post_.came.wait(lock, [&] { return !waiting.empty(); });
    if (waiting.front().size() != in.size())
      throw std::logic_error("a message of another length was expected");
    std::memcpy(in.data(), waiting.front().data(), in.size());
    waiting.pop_front();
  }

  int receive_from_any(std::span<std::byte> in) override {
    std::unique_lock lock(post_.mutex);
    for (;;) {
      for (int from = 0; from < size_; ++from) {
        auto& waiting = post_.messages[{channel_, from, rank_}];
        if (waiting.empty()) continue;
        std::memcpy(in.data(), waiting.front().data(), in.size());
        waiting.pop_front();
        return from;
      }
      post_.came.wait(lock);
    }
  }

  std::unique_ptr<Communicator> first(int size) override {
    const int64_t channel = channel_ * kMostChildren + ++children_;
    return rank_ < size ? std::make_unique<ThreadRank>(post_, channel, rank_, size) : nullptr;
  }

 private:
  static constexpr int64_t kMostChildren = 1000;
  Post& post_;
  int64_t channel_;
  int rank_, size_;
  int64_t children_ = 0;
};

// Calls `run` on `ranks` threads at once, each with its own communicator.
inline void on_thread_ranks(int ranks, const std::function<void(Communicator&)>& run) {
  ThreadRank::Post post;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank own(post, 0, rank, ranks);
      run(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tacho
