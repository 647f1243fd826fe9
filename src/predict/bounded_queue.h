#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "base/clock.h"

namespace tacho {

// Hands values from one thread to another, at most `capacity` of them on the way.
template<typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // Waits for room. False where nobody will take the value any more.
  bool push(T value) {
    std::unique_lock lock(mutex_);
    const double begin = now_ms();
    changed_.wait(lock, [&] { return closed_ || values_.size() < capacity_; });
    push_wait_ms_ += now_ms() - begin;
    if (closed_) return false;
    values_.push_back(std::move(value));
    changed_.notify_all();
    return true;
  }

  // Waits for a value. Nothing where none will come.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    const double begin = now_ms();
    changed_.wait(lock, [&] { return closed_ || !values_.empty(); });
    pop_wait_ms_ += now_ms() - begin;
    if (values_.empty()) return {};
    T value = std::move(values_.front());
    values_.pop_front();
    changed_.notify_all();
    return value;
  }

  // Nothing more comes; what is in it can still be taken.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Nothing more comes, and nobody takes what is in it.
  void abandon() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    values_.clear();
    changed_.notify_all();
  }

  // How long threads have waited to push and to pop, all together.
  double push_wait_ms() const { return waited(push_wait_ms_); }
  double pop_wait_ms() const { return waited(pop_wait_ms_); }

 private:
  double waited(const double& ms) const {
    const std::scoped_lock lock(mutex_);
    return ms;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
  bool closed_ = false;
  double push_wait_ms_ = 0, pop_wait_ms_ = 0;
};

}  // namespace tacho
