#include "distributed/buckets.h"
#include "distributed/collectives.h"
#include "distributed/group.h"
#include "distributed/together.h"
#include "engine/engines.h"

namespace tacho {
namespace {

// Devices that move gradients on by themselves: nobody waits for them but finish_exchange().
class DirectGroup final : public Group {
 public:
  DirectGroup(const Communicator& ranks, size_t bucket_bytes, std::unique_ptr<DeviceExchange> exchange)
      : rank_(ranks.rank()),
        size_(ranks.size()),
        exchange_(std::move(exchange)),
        buckets_(bucket_bytes, [this](std::span<float> bucket) { start(bucket); }) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void take(std::span<float> gradients) override { buckets_.add(gradients); }

  void finish_exchange() override {
    buckets_.finish();
    last_ = {.ms = exchange_->finish(), .bytes = std::exchange(bytes_, 0)};
  }

  ExchangeTimes last_exchange() const override { return last_; }
  std::string_view way() const override { return exchange_->name(); }
  bool reaches_devices() const override { return true; }

 private:
  void start(std::span<float> bucket) {
    exchange_->start(bucket);
    bytes_ += ring_bytes(bucket.size(), size_);
  }

  int rank_, size_;
  std::unique_ptr<DeviceExchange> exchange_;
  Buckets buckets_;
  int64_t bytes_ = 0;
  ExchangeTimes last_;
};

}  // namespace

std::unique_ptr<Group> direct_group(Communicator& ranks, size_t bucket_bytes,
                                    std::unique_ptr<DeviceExchange> exchange) {
  return std::make_unique<DirectGroup>(ranks, bucket_bytes, std::move(exchange));
}

std::unique_ptr<Group> training_group(Communicator& ranks, const Execution& execution,
                                      const std::string& device) {
  if (ranks.size() == 1) return single_group();
  const FromFirst from_first = [&](const std::function<std::string()>& make) {
    std::string text;
    together(ranks, [&] {
      if (ranks.rank() == 0) text = make();
    });
    return broadcast(ranks, std::move(text));
  };
  const size_t bucket_bytes = static_cast<size_t>(execution.bucket_mib) << 20;
  std::unique_ptr<DeviceExchange> exchange =
      find_engine(execution.engine).join_devices(device, ranks.rank(), ranks.size(), from_first);
  return exchange ? direct_group(ranks, bucket_bytes, std::move(exchange))
                  : device_group(ranks, bucket_bytes, device == kCpu ? kRing : kHostRing);
}

}  // namespace tacho
