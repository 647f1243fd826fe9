#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "distributed/buckets.h"
#include "distributed/collectives.h"
#include "distributed/group.h"

namespace tacho {
namespace {

// A thread of its own exchanges the buckets: MPI moves nothing unless somebody calls it, and between two
// steps of a plan a large machine could have moved much. It naps while the plan computes on its core, and
// spins once the plan has nothing left to do but wait for it.
class DeviceGroup final : public Group {
 public:
  DeviceGroup(Communicator& ranks, size_t bucket_bytes, std::string_view way)
      : way_(way),
        ranks_(ranks.first(ranks.size())),
        buckets_(bucket_bytes, [this](std::span<float> bucket) { send(bucket); }),
        scratch_(ring_scratch(bucket_bytes / sizeof(float) + 1, ranks.size())),
        thread_([this](const std::stop_token& stop) { work(stop); }) {
    ranks_->wait_by(Waiting::nap);
  }

  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }

  void take(std::span<float> gradients) override { buckets_.add(gradients); }

  void finish_exchange() override {
    buckets_.finish();
    ranks_->wait_by(Waiting::spin);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ == given_; });
    ranks_->wait_by(Waiting::nap);
    last_ = std::exchange(times_, {});
  }

  ExchangeTimes last_exchange() const override { return last_; }
  std::string_view way() const override { return way_; }
  bool reaches_devices() const override { return false; }

 private:
  void send(std::span<float> bucket) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(bucket);
    ++given_;
    changed_.notify_all();
  }

  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
      const std::span<float> bucket = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      const double begin = now_ms();
      all_reduce_mean(*ranks_, bucket, scratch_);
      const double end = now_ms();
      lock.lock();
      times_.ms += end - begin;
      times_.bytes += ring_bytes(bucket.size(), ranks_->size());
      ++done_;
      changed_.notify_all();
    }
  }

  std::string_view way_;
  std::unique_ptr<Communicator> ranks_;  // of its own: others may talk meanwhile
  Buckets buckets_;
  std::vector<float> scratch_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::span<float>> waiting_;
  int64_t given_ = 0, done_ = 0;
  ExchangeTimes times_, last_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace

std::unique_ptr<Group> device_group(Communicator& ranks, size_t bucket_bytes, std::string_view way) {
  return std::make_unique<DeviceGroup>(ranks, bucket_bytes, way);
}

}  // namespace tacho
