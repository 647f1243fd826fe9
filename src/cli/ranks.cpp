#include "cli/ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "distributed/collectives.h"
#include "distributed/launch.h"
#include "distributed/mpi.h"

namespace tacho {

Ranks::Ranks(const std::string& call) : launched_(launched_ranks() > 0) {
  world_ = std::make_unique<World>(launched_ ? join_ranks() : alone(), call);
  watch_ = std::make_unique<Watch>(*world_, [this](const std::string& what) { tell_loss(what); });
  for (const std::string& rank : watch_->unwatched())
    fmt::print(stderr, "tacho: note: {} cannot be watched: should it hang, end this call yourself\n", rank);
}

void Ranks::agree_to_start(const std::string& own_error) {
  agreed_ = true;
  const std::vector<std::string> errors = all_gather(world_->all(), own_error);
  refused_ = std::ranges::any_of(errors, [](const std::string& error) { return !error.empty(); });
  if (!errors[0].empty()) throw UserError(errors[0]);
  for (size_t rank = 1; rank < errors.size(); ++rank) {
    if (errors[rank].empty()) continue;
    throw UserError("{}: {}", world_->name_of(static_cast<int>(rank)), errors[rank]);
  }
}

void Ranks::set_last_words(const std::string& words) {
  const std::scoped_lock lock(mutex_);
  last_words_ = words;
}

void Ranks::finish() {
  barrier(world_->all());
  watch_->dismiss();
  // To one that still watches, whoever closes its connection could seem lost.
  barrier(world_->all());
}

void Ranks::give_up(const std::string& why, int status) {
  fmt::print(stderr, "tacho: {}: {}\n", world_->name_of(world_->rank()), why);
  let_words_pass();
  end_all_ranks(status);
}

// Whoever notices first: rank 0, or where that is lost the next one.
void Ranks::tell_loss(const std::string& what) {
  if (world_->rank() > 1) end_all_ranks(kLostStatus);
  const std::scoped_lock lock(mutex_);
  const std::string line =
      fmt::format("tacho: {}; all ranks are stopped{}{}", what, last_words_.empty() ? "" : "; ", last_words_);
  if (caller_.is_there()) {
    caller_.leave_word(line);
  } else {
    fmt::print(stderr, "{}\n", line);
    let_words_pass();
  }
  end_all_ranks(kLostStatus);
}

}  // namespace tacho
