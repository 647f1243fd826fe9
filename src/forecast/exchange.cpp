#include "forecast/exchange.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr int64_t kFirstBucketBytes = int64_t{1} << 20, kBucketBytes = int64_t{25} << 20;
constexpr double kMsPerSecond = 1e3;

}  // namespace

double ring_allreduce_ms(double bytes, int members, const NetworkSpeed& speed) {
  const double message_s = speed.latency_s + bytes / members / speed.bytes_per_s;
  return 2 * (members - 1) * message_s * kMsPerSecond;
}

double allreduce_ms(double bytes, int devices, const Connections& connections) {
  const int per_node = connections.devices_per_node;
  const int nodes = (devices + per_node - 1) / per_node;
  const double between_ms = ring_allreduce_ms(bytes, nodes, connections.between_nodes);
  if (!connections.within_node) return between_ms;
  return between_ms + ring_allreduce_ms(bytes, std::min(devices, per_node), *connections.within_node);
}

Exchange exchange(std::span<const GradientBucket> buckets, double backward_ms, int devices,
                  const Connections& connections) {
  Exchange result;
  double link_free_ms = 0;  // after the backward pass began, as all times here
  for (const GradientBucket& bucket : buckets) {
    const double needed_ms = allreduce_ms(static_cast<double>(bucket.bytes), devices, connections);
    const double ready_ms = std::min(bucket.ready_ms, backward_ms);
    link_free_ms = std::max(link_free_ms, ready_ms) + needed_ms;
    result.total_ms += needed_ms;
  }
  result.exposed_ms = std::max(0.0, link_free_ms - backward_ms);
  return result;
}

std::vector<GradientBucket> assumed_buckets(int64_t gradient_bytes, double backward_ms) {
  std::vector<GradientBucket> buckets;
  for (int64_t done = 0; done < gradient_bytes;) {
    const int64_t bytes = std::min(done == 0 ? kFirstBucketBytes : kBucketBytes, gradient_bytes - done);
    done += bytes;
    const double share = static_cast<double>(done) / static_cast<double>(gradient_bytes);
    buckets.push_back({.bytes = bytes, .ready_ms = share * backward_ms});
  }
  return buckets;
}

}  // namespace tacho
