#pragma once

#include <memory>

#include "engine/engine.h"

namespace tacho {

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
};

// One device alone: there is nothing to exchange.
std::unique_ptr<Group> single_group();

}  // namespace tacho
