#include "data/order.h"

#include <numeric>
#include <utility>

#include "base/random.h"

namespace tacho {

Order::Place Order::at(int64_t position) {
  const int64_t epoch = position / images_, place = position % images_;
  if (!seed_) return {epoch, place};
  if (epoch != shuffled_epoch_) shuffle(epoch);
  return {epoch, shuffled_[static_cast<size_t>(place)]};
}

// Fisher and Yates.
void Order::shuffle(int64_t epoch) {
  const Random random = Random(*seed_).stream("shuffle").stream(static_cast<uint64_t>(epoch));
  shuffled_.resize(static_cast<size_t>(images_));
  std::iota(shuffled_.begin(), shuffled_.end(), int64_t{0});
  for (size_t i = shuffled_.size(); i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[random.bits(i) % i]);
  shuffled_epoch_ = epoch;
}

}  // namespace tacho
