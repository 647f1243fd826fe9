#include "data/loader.h"

#include <utility>

#include "base/clock.h"
#include "base/cpu.h"

namespace tacho {

Loader::Loader(std::unique_ptr<const BatchSource> source, LoaderOptions options)
    : source_(std::move(source)), next_to_take_(options.first_batch), next_to_give_(options.first_batch) {
  const int64_t ahead = options.batches_ahead();
  for (int64_t left = ahead + 1; left > 1; --left) idle_.push_back({.batch = source_->make(left)});
  given_ = {.batch = source_->make(1)};
  for (int i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Loader::~Loader() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

const Batch& Loader::next() {
  const double begin = now_ms();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || ready_.contains(next_to_give_); });
  wait_ms_ += now_ms() - begin;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  auto node = ready_.extract(next_to_give_++);
  std::swap(given_, node.mapped());
  idle_.push_back(std::move(node.mapped()));
  changed_.notify_all();
  return given_.batch;
}

void Loader::work(const std::stop_token& stop) {
  run_anywhere();
  Work work;
  while (take(stop, work)) {
    std::exception_ptr failure;
    try {
      source_->fill(work.number, work.batch);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    if (failure != nullptr) failure_ = failure;
    const int64_t number = work.number;
    ready_.emplace(number, std::move(work));
    changed_.notify_all();
  }
}

// The next batch to make and memory for it. False: the loader ends.
bool Loader::take(const std::stop_token& stop, Work& work) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return !idle_.empty(); })) return false;
  work = std::move(idle_.back());
  idle_.pop_back();
  work.number = next_to_take_++;
  return true;
}

}  // namespace tacho
