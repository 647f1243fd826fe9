#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "distributed/communicator.h"

namespace tacho {

// Deals numbers out to ranks that ask for the next one when they need it, so that a faster rank gets more of
// them. Rank 0 has them all and answers the others on a thread of its own.
class Dealer {
 public:
  // All of `ranks` at once; only rank 0's `numbers` count.
  Dealer(Communicator& ranks, std::vector<int64_t> numbers);
  // Stops where numbers are left; returns when every rank knows that there are none.
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  // Nothing when there is none left; then for ever. `finished` is how many of its numbers this rank is done
  // with. By one thread at a time.
  std::optional<int64_t> next(int64_t finished);
  // Nobody gets any more of them. By any thread.
  void stop();
  // On rank 0: how many the others were done with when they last asked.
  int64_t finished_elsewhere();

 private:
  int64_t take();
  void answer_others();
  int64_t ask(int64_t question);

  std::unique_ptr<Communicator> ranks_;
  std::mutex mutex_;
  std::vector<int64_t> numbers_;
  size_t dealt_ = 0;
  std::vector<int64_t> finished_;  // by rank
  bool ended_ = false;             // rank 0 answers this one no more
  std::jthread thread_;
};

}  // namespace tacho
