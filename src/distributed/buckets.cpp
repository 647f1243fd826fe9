#include "distributed/buckets.h"

namespace tacho {

void Buckets::add(std::span<float> range) {
  if (range.data() + range.size() == waiting_.data()) {
    waiting_ = {range.data(), range.size() + waiting_.size()};
  } else if (waiting_.data() + waiting_.size() == range.data()) {
    waiting_ = {waiting_.data(), waiting_.size() + range.size()};
  } else {
    give_waiting();
    waiting_ = range;
  }
  if (waiting_.size() >= (first_ ? first_floats_ : floats_)) give_waiting();
}

void Buckets::give_waiting() {
  if (waiting_.empty()) return;
  while (!waiting_.empty()) {
    const size_t count = std::min(waiting_.size(), floats_);
    give_(waiting_.first(count));
    waiting_ = waiting_.subspan(count);
  }
  first_ = false;
}

void Buckets::finish() {
  give_waiting();
  first_ = true;
}

}  // namespace tacho
