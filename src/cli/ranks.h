#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/caller.h"
#include "distributed/watch.h"
#include "distributed/world.h"

namespace tacho {

// The ranks of this call as main and the driver see them: who speaks, what is agreed on, and what is said
// when one of them is lost.
class Ranks {
 public:
  // Joins those that a launcher started; otherwise this process is alone. Throws UserError on every rank
  // where they run other calls.
  explicit Ranks(const std::string& call);

  World& world() { return *world_; }
  bool is_first() const { return world_->is_first(); }
  // Whether a launcher made them: then there are never more.
  bool were_launched() const { return launched_; }

  // Before anything is measured, once on every rank: throws UserError on all of them where any has an error
  // to tell.
  void agree_to_start(const std::string& own_error);
  bool have_agreed() const { return agreed_; }
  // Whether an error of one of them was told to all then.
  bool have_refused() const { return refused_; }

  // What follows the news that a rank is lost: how the call can be gone on with.
  void set_last_words(const std::string& words);

  // All ranks have come to their end.
  void finish();
  // This one of several has not: ends all of them.
  [[noreturn]] void give_up(const std::string& why, int status);

 private:
  void tell_loss(const std::string& what);

  Caller caller_;
  bool launched_ = false, agreed_ = false, refused_ = false;
  std::unique_ptr<World> world_;
  std::unique_ptr<Watch> watch_;
  std::mutex mutex_;
  std::string last_words_;
};

}  // namespace tacho
