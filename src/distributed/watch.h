#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/world.h"

namespace tacho {

// Sees to it that no rank waits for ever for another one that is gone. Every rank holds a connection to rank
// 0, over which both say every second that they are there. Messages of MPI cannot tell: they just do not
// come.
class Watch {
 public:
  // Is told, on a thread of the watch, that a rank ended or has been silent for too long: "rank 1 on host b7
  // ended unexpectedly". At most once.
  using OnLoss = std::function<void(const std::string& what)>;

  // All ranks at once. Ranks that cannot be reached are not watched: `unwatched` names them on rank 0.
  Watch(World& world, OnLoss on_loss);
  // Says goodbye: others may still be at work.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::vector<std::string>& unwatched() const { return unwatched_; }

  // From now on ranks may end as they like.
  void dismiss();
  // For tests: as if this process had been killed.
  void break_off_for_test() const;

 private:
  struct Peer {
    int rank;
    double heard_ms;
  };

  void connect_to_first(const std::string& address, uint64_t secret);
  void accept_others(int listener, uint64_t secret);
  void work(const std::stop_token& stop);
  bool hear();
  std::string silent_peer() const;
  void say(char word) const;

  World& world_;
  OnLoss on_loss_;
  std::map<int, Peer> peers_;  // by socket
  std::vector<std::string> unwatched_;
  std::string lost_;
  std::jthread thread_;
};

}  // namespace tacho
