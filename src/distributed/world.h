#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/communicator.h"

namespace tacho {

// The name of each rank's host. Containers on several machines may have one name: then the second machine is
// "b7#2". Hosts of several names count as several, also where they share a machine.
std::vector<std::string> distinct_hosts(std::vector<std::string> names,
                                        const std::vector<std::string>& boot_ids);

// Where one of the devices computes that are at work together: it is the `index`-th of `count` on its host.
struct Seat {
  int index = 0, count = 1;
  bool own_cores = false;  // the launcher gave every device of the host other cores
};

// The processes that run this call together, a device each. Every one of them runs the same program with the
// same arguments; rank 0 alone prints and stores.
class World {
 public:
  // All ranks at once. Throws UserError on every rank where they disagree in `call`, their arguments and
  // version.
  World(std::unique_ptr<Communicator> all, const std::string& call);

  int rank() const { return all_->rank(); }
  int size() const { return all_->size(); }
  bool is_first() const { return rank() == 0; }
  Communicator& all() { return *all_; }

  const std::vector<std::string>& hosts() const { return hosts_; }  // by rank
  // "rank 3 on host b7".
  std::string name_of(int rank) const;
  // Machines that the first `devices` ranks are on.
  int nodes(int devices) const;
  // Of this rank when the first `devices` are at work.
  Seat seat(int devices) const { return seat(rank(), devices); }
  // Threads that each of the first `devices` has cores for. More devices than there are ranks are taken to be
  // on this machine.
  int threads_per_device(int devices) const;
  // Whether no core has to do the work of two threads.
  bool has_cores_for(int devices, int threads) const;

  // What added to now_ms() gives rank 0's, as it is now: clocks of two machines drift apart. All of `ranks`
  // at once, which are the first of the world.
  double clock_offset_ms(Communicator& ranks) const;

 private:
  Seat seat(int rank, int devices) const;
  int threads_of(int rank, int devices) const;

  std::unique_ptr<Communicator> all_;
  std::vector<std::string> hosts_;
  std::vector<std::string> cpus_;  // by rank: those that it may use, as text
  std::vector<int> cores_;         // by rank
};

}  // namespace tacho
