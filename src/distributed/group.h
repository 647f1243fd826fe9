#pragma once

#include <cstdint>
#include <memory>

#include "distributed/communicator.h"
#include "engine/execution.h"

namespace tacho {

// Of gradients, by messages between the ranks: where devices have them, or copied from GPUs and back.
inline constexpr std::string_view kRing = "ring", kHostRing = "ring through the host";

// What the exchange of one pass took.
struct ExchangeTimes {
  double ms = 0;      // while something was on its way, whatever else ran
  int64_t bytes = 0;  // sent by this rank
};

// The devices that share one piece of work; this process is one of them. In a pass it takes gradients as they
// become final and makes each the mean over all devices.
class Group : public GradientSink {
 public:
  virtual int rank() const = 0;  // of this process, from 0
  virtual int size() const = 0;

  // Starts to exchange these gradients; may return before they are exchanged.
  void take(std::span<float> gradients) override = 0;
  // Returns when every gradient taken since the last call is the mean of all ranks.
  virtual void finish_exchange() = 0;
  // Of the gradients up to the last finish_exchange().
  virtual ExchangeTimes last_exchange() const = 0;

  // How they are exchanged, in words; empty where there is nobody to exchange them with.
  virtual std::string_view way() const = 0;
  // Whether it takes them where a GPU has them: CompileOptions::gradients_on_device.
  virtual bool reaches_devices() const = 0;
};

// One device alone: there is nothing to exchange.
std::unique_ptr<Group> single_group();

// All ranks of `ranks`, which must outlive it. Gradients are exchanged in buckets of about `bucket_bytes`,
// the first of them smaller, while the backward pass goes on: by a ring of messages between the hosts.
// `way` is what it is called.
std::unique_ptr<Group> device_group(Communicator& ranks, size_t bucket_bytes, std::string_view way = kRing);

// The same by the devices themselves.
std::unique_ptr<Group> direct_group(Communicator& ranks, size_t bucket_bytes,
                                    std::unique_ptr<DeviceExchange> exchange);

// The one for a training by all `ranks` at once, of which this one computes on `device`: GPUs that reach each
// other exchange gradients themselves, the others' go through the host's memory.
std::unique_ptr<Group> training_group(Communicator& ranks, const Execution& execution,
                                      const std::string& device);

}  // namespace tacho
