#include "distributed/joint_passes.h"

#include <algorithm>
#include <array>

#include "distributed/collectives.h"

namespace tacho {
namespace {

using Moment = double PassTimes::*;

constexpr std::array<Moment, 7> kMoments = {&PassTimes::begin_ms,        &PassTimes::scatter_end_ms,
                                            &PassTimes::forward_end_ms,  &PassTimes::backward_end_ms,
                                            &PassTimes::exchange_end_ms, &PassTimes::update_end_ms,
                                            &PassTimes::end_ms};
constexpr size_t kNumbers = kMoments.size() + 2;

// Moments on rank 0's clock, then the exchange.
std::vector<double> numbers_of(std::span<const PassTimes> passes, double clock_offset_ms) {
  std::vector<double> numbers;
  for (const PassTimes& pass : passes) {
    for (const Moment moment : kMoments) numbers.push_back(pass.*moment + clock_offset_ms);
    numbers.push_back(pass.exchange.ms);
    numbers.push_back(static_cast<double>(pass.exchange.bytes));
  }
  return numbers;
}

std::vector<PassTimes> passes_of(std::span<const double> numbers) {
  std::vector<PassTimes> passes(numbers.size() / kNumbers);
  for (size_t i = 0; i < passes.size(); ++i) {
    const auto own = numbers.subspan(i * kNumbers, kNumbers);
    for (size_t m = 0; m < kMoments.size(); ++m) passes[i].*kMoments[m] = own[m];
    passes[i].exchange = {own[kMoments.size()], static_cast<int64_t>(own[kMoments.size() + 1])};
  }
  return passes;
}

// When the slowest rank was so far.
struct Latest {
  double begin_ms, end_ms;  // of the pass of all devices
  double backward_end_ms, update_end_ms;
};

Latest latest_of(std::span<const std::vector<PassTimes>> by_rank, size_t pass) {
  const PassTimes& first = by_rank[0][pass];
  Latest latest = {first.begin_ms, first.end_ms, first.backward_end_ms, first.update_end_ms};
  for (const auto& passes : by_rank) {
    latest.begin_ms = std::min(latest.begin_ms, passes[pass].begin_ms);
    latest.end_ms = std::max(latest.end_ms, passes[pass].end_ms);
    latest.backward_end_ms = std::max(latest.backward_end_ms, passes[pass].backward_end_ms);
    latest.update_end_ms = std::max(latest.update_end_ms, passes[pass].update_end_ms);
  }
  return latest;
}

// What devices do together begins in truth when the last of them is there: until then the others wait.
PassParts parts_of(const PassTimes& pass, const Latest& latest) {
  const double exchange_ms = pass.exchange_end_ms - pass.backward_end_ms;
  const double exchange_wait_ms = std::min(exchange_ms, latest.backward_end_ms - pass.backward_end_ms);
  const double gather_ms = pass.end_ms - pass.update_end_ms;
  const double gather_wait_ms = std::min(gather_ms, latest.update_end_ms - pass.update_end_ms);
  const double outside_ms = pass.begin_ms - latest.begin_ms + latest.end_ms - pass.end_ms;
  return {.scatter_ms = pass.scatter_end_ms - pass.begin_ms,
          .forward_ms = pass.forward_end_ms - pass.scatter_end_ms,
          .backward_ms = pass.backward_end_ms - pass.forward_end_ms,
          .exposed_allreduce_ms = exchange_ms - exchange_wait_ms,
          .wait_ms = outside_ms + exchange_wait_ms + gather_wait_ms,
          .update_ms = pass.update_end_ms - pass.exchange_end_ms,
          .gather_ms = gather_ms - gather_wait_ms,
          .allreduce_ms = pass.exchange.ms};
}

}  // namespace

JointPasses join_passes(std::span<const std::vector<PassTimes>> by_rank) {
  JointPasses joint;
  joint.parts.resize(by_rank.size());
  for (size_t pass = 0; pass < by_rank[0].size(); ++pass) {
    const Latest latest = latest_of(by_rank, pass);
    joint.samples_ms.push_back(latest.end_ms - latest.begin_ms);
    for (size_t rank = 0; rank < by_rank.size(); ++rank)
      joint.parts[rank].push_back(parts_of(by_rank[rank][pass], latest));
  }
  for (const auto& passes : by_rank) {
    if (!passes.empty()) joint.bytes_moved += passes.back().exchange.bytes;
  }
  return joint;
}

JointPasses gather_passes(Communicator& ranks, std::span<const PassTimes> own, double clock_offset_ms) {
  const std::vector<double> all = all_gather(ranks, numbers_of(own, clock_offset_ms));
  std::vector<std::vector<PassTimes>> by_rank;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const size_t count = own.size() * kNumbers;
    by_rank.push_back(passes_of(std::span(all).subspan(static_cast<size_t>(rank) * count, count)));
  }
  return join_passes(by_rank);
}

}  // namespace tacho
