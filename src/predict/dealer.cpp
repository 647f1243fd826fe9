#include "predict/dealer.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace tacho {
namespace {

constexpr int64_t kNone = -1;  // the answer when nothing is left
// A question is how many numbers the rank is done with, or this one. Every question is answered.
constexpr int64_t kStop = -1;

std::span<std::byte> bytes_of(int64_t& number) { return std::as_writable_bytes(std::span(&number, 1)); }

}  // namespace

Dealer::Dealer(Communicator& ranks, std::vector<int64_t> numbers)
    : ranks_(ranks.size() > 1 ? ranks.first(ranks.size()) : alone()),
      numbers_(std::move(numbers)),
      finished_(static_cast<size_t>(ranks.size())) {
  ranks_->wait_by(Waiting::nap);
  if (ranks_->size() > 1 && ranks_->rank() == 0) thread_ = std::jthread([this] { answer_others(); });
}

Dealer::~Dealer() {
  stop();
  // Rank 0 answers until every other rank knows that nothing is left.
  while (next(0)) {
  }
}

std::optional<int64_t> Dealer::next(int64_t finished) {
  const int64_t number = ranks_->rank() == 0 ? take() : ask(finished);
  return number == kNone ? std::nullopt : std::optional(number);
}

void Dealer::stop() {
  if (ranks_->rank() == 0) {
    const std::scoped_lock lock(mutex_);
    dealt_ = numbers_.size();
    return;
  }
  ask(kStop);
}

int64_t Dealer::finished_elsewhere() {
  const std::scoped_lock lock(mutex_);
  return std::accumulate(finished_.begin(), finished_.end(), int64_t{0});
}

int64_t Dealer::take() {
  const std::scoped_lock lock(mutex_);
  return dealt_ < numbers_.size() ? numbers_[dealt_++] : kNone;
}

void Dealer::answer_others() {
  for (int left = ranks_->size() - 1; left > 0;) {
    int64_t question = 0;
    const int asker = ranks_->receive_from_any(bytes_of(question));
    {
      const std::scoped_lock lock(mutex_);
      auto& finished = finished_[static_cast<size_t>(asker)];
      if (question == kStop) dealt_ = numbers_.size();
      finished = std::max(finished, question);
    }
    int64_t answer = question == kStop ? 0 : take();
    if (answer == kNone) --left;
    ranks_->exchange(bytes_of(answer), asker, {}, asker);
  }
}

int64_t Dealer::ask(int64_t question) {
  const std::scoped_lock lock(mutex_);
  if (ended_) return kNone;
  int64_t answer = 0;
  ranks_->exchange(bytes_of(question), 0, {}, 0);
  ranks_->exchange({}, 0, bytes_of(answer), 0);
  ended_ = answer == kNone;
  return answer;
}

}  // namespace tacho
