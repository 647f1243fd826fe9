#include "predict/dealer.h"

#include <array>
#include <span>

namespace tacho {
namespace {

constexpr int64_t kNone = -1;                  // the answer when nothing is left
constexpr int64_t kNextPlease = 0, kStop = 1;  // the questions; every question is answered

std::span<std::byte> bytes_of(int64_t& number) { return std::as_writable_bytes(std::span(&number, 1)); }

}  // namespace

Dealer::Dealer(Communicator& ranks, std::vector<int64_t> numbers)
    : ranks_(ranks.size() > 1 ? ranks.first(ranks.size()) : alone()), numbers_(std::move(numbers)) {
  ranks_->wait_by(Waiting::nap);
  if (ranks_->size() > 1 && ranks_->rank() == 0) thread_ = std::jthread([this] { answer_others(); });
}

Dealer::~Dealer() {
  stop();
  // Rank 0 answers until every other rank knows that nothing is left.
  while (next()) {
  }
}

std::optional<int64_t> Dealer::next() {
  const int64_t number = ranks_->rank() == 0 ? take() : ask(kNextPlease);
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

int64_t Dealer::take() {
  const std::scoped_lock lock(mutex_);
  return dealt_ < numbers_.size() ? numbers_[dealt_++] : kNone;
}

void Dealer::answer_others() {
  for (int left = ranks_->size() - 1; left > 0;) {
    int64_t question = 0;
    const int asker = ranks_->receive_from_any(bytes_of(question));
    if (question == kStop) {
      const std::scoped_lock lock(mutex_);
      dealt_ = numbers_.size();
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
