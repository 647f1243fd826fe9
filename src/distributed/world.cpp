#include "distributed/world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

constexpr int kClockRounds = 32;

// Every rank against rank 0, one after the other: half of the quickest round trip is the way there.
double measure_clock_offset_ms(Communicator& ranks) {
  double offset_ms = 0;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    if (ranks.rank() != 0 && ranks.rank() != rank) continue;
    double best_ms = 1e300;
    for (int round = 0; round < kClockRounds; ++round) {
      double theirs = 0;
      const double begin = now_ms();
      const auto out = std::as_bytes(std::span(&begin, 1));
      const auto in = std::as_writable_bytes(std::span(&theirs, 1));
      if (ranks.rank() == 0) {
        ranks.exchange({}, -1, in, rank);
        theirs = now_ms();
        ranks.exchange(std::as_bytes(std::span(&theirs, 1)), rank, {}, -1);
        continue;
      }
      ranks.exchange(out, 0, {}, -1);
      ranks.exchange({}, -1, in, 0);
      const double end = now_ms();
      if (end - begin >= best_ms) continue;
      best_ms = end - begin;
      offset_ms = theirs - (begin + end) / 2;
    }
  }
  return offset_ms;
}

void require_same_call(Communicator& all, const std::vector<std::string>& hosts, const std::string& call) {
  const std::vector<std::string> calls = all_gather(all, call);
  for (size_t rank = 1; rank < calls.size(); ++rank) {
    if (calls[rank] == calls[0]) continue;
    throw UserError("ranks disagree: rank 0 on {} runs '{}', rank {} on {} runs '{}'", hosts[0], calls[0],
                    rank, hosts[rank], calls[rank]);
  }
}

}  // namespace

std::vector<std::string> distinct_hosts(std::vector<std::string> names,
                                        const std::vector<std::string>& boot_ids) {
  std::map<std::string, std::vector<std::string>> machines;  // by name, in the order of ranks
  for (size_t rank = 0; rank < names.size(); ++rank) {
    auto& known = machines[names[rank]];
    const auto found = std::ranges::find(known, boot_ids[rank]);
    const auto index = found - known.begin();
    if (found == known.end()) known.push_back(boot_ids[rank]);
    if (index > 0) names[rank] += fmt::format("#{}", index + 1);
  }
  return names;
}

World::World(std::unique_ptr<Communicator> all, const std::string& call) : all_(std::move(all)) {
  hosts_ = all_gather(*all_, host_name());
  require_same_call(*all_, hosts_, call);
  hosts_ = distinct_hosts(std::move(hosts_), all_gather(*all_, boot_id()));
  cpus_ = all_gather(*all_, fmt::format("{}", fmt::join(allowed_cpus(), ",")));
  const double cores = usable_cores();
  for (const double count : all_gather(*all_, std::span(&cores, 1)))
    cores_.push_back(static_cast<int>(count));
  all_->wait_by(Waiting::nap);
}

std::string World::name_of(int rank) const {
  return fmt::format("rank {} on host {}", rank, hosts_[static_cast<size_t>(rank)]);
}

int World::nodes(int devices) const {
  const auto end = hosts_.begin() + std::min(devices, size());
  return static_cast<int>(std::set(hosts_.begin(), end).size());
}

double World::clock_offset_ms(Communicator& ranks) const {
  // Processes of one machine read the same clock.
  if (nodes(ranks.size()) == 1) return 0;
  const double offset_ms = measure_clock_offset_ms(ranks);
  return hosts_[static_cast<size_t>(rank())] == hosts_[0] ? 0 : offset_ms;
}

Seat World::seat(int rank, int devices) const {
  Seat seat = {.index = 0, .count = 0, .own_cores = true};
  std::set<std::string> taken;
  for (int other = 0; other < std::min(devices, size()); ++other) {
    const auto at = static_cast<size_t>(other);
    if (hosts_[at] != hosts_[static_cast<size_t>(rank)]) continue;
    if (other < rank) ++seat.index;
    ++seat.count;
    for (const std::string& cpu : split(cpus_[at], ',')) seat.own_cores &= taken.insert(cpu).second;
  }
  return seat;
}

int World::threads_of(int rank, int devices) const {
  const Seat seat = this->seat(rank, devices);
  const int cores = cores_[static_cast<size_t>(rank)];
  return std::max(1, seat.own_cores ? cores : cores / seat.count);
}

int World::threads_per_device(int devices) const {
  if (size() == 1) return std::max(1, cores_[0] / devices);
  int threads = threads_of(0, devices);
  for (int rank = 1; rank < std::min(devices, size()); ++rank)
    threads = std::min(threads, threads_of(rank, devices));
  return threads;
}

bool World::has_cores_for(int devices, int threads) const {
  for (int rank = 0; rank < std::min(devices, size()); ++rank) {
    const Seat seat = this->seat(rank, devices);
    const int sharing = size() == 1 ? devices : seat.own_cores ? 1 : seat.count;
    if (threads * sharing > cores_[static_cast<size_t>(rank)]) return false;
  }
  return true;
}

}  // namespace tacho
