#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace tacho {

// How a thread waits for other ranks.
enum class Waiting {
  spin,  // at once ready to go on: nothing else needs its core
  nap,   // asleep most of the time: others compute meanwhile
};

// What a number of ranks, one process each, say to each other. Every call is made by all of them, in the same
// order, and by one thread at a time. A rank that is lost ends the program (see Watch): nothing here fails.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  // of this process, from 0
  virtual int size() const = 0;

  // Sends `out` to one rank and fills `in` with what another one sends. An empty one is neither sent nor
  // awaited.
  virtual void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from) = 0;

  // Fills `in` with the next message of that length, whoever sends it; returns who.
  virtual int receive_from_any(std::span<std::byte> in) = 0;

  // The first `size` ranks among themselves, also for another thread; nothing on the other ranks.
  virtual std::unique_ptr<Communicator> first(int size) = 0;

  // May be called by any thread, also for one that waits already.
  void wait_by(Waiting waiting) { waiting_ = waiting; }

 protected:
  Waiting waiting() const { return waiting_; }

 private:
  std::atomic<Waiting> waiting_ = Waiting::spin;
};

// One rank and nobody else.
std::unique_ptr<Communicator> alone();

}  // namespace tacho
