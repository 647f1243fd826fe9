#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/network_speed.h"
#include "results/device_times.h"

// What devices that share a training step spend on the sum of their gradients.
namespace tacho {

struct Connections {
  NetworkSpeed between_nodes = {};
  int devices_per_node = 1;
  std::optional<NetworkSpeed> within_node = {};  // nothing: an exchange there takes no time
};

// In a ring: 2 (n - 1) messages one after the other, each an n-th of the bytes.
double ring_allreduce_ms(double bytes, int members, const NetworkSpeed& speed);

// The devices of each node in a ring of their own, then the nodes in a ring.
double allreduce_ms(double bytes, int devices, const Connections& connections);

struct Exchange {
  double total_ms = 0;
  double exposed_ms = 0;  // of that, after the backward pass
};

// Buckets go one after the other, each as soon as it is ready and the one before it has gone.
Exchange exchange(std::span<const GradientBucket> buckets, double backward_ms, int devices,
                  const Connections& connections);

// For gradients of which only the size is known: buckets of 25 MiB, the first of 1 MiB, that fill at an even
// rate over the backward pass.
std::vector<GradientBucket> assumed_buckets(int64_t gradient_bytes, double backward_ms);

}  // namespace tacho
