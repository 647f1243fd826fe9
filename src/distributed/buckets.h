#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

namespace tacho {

// Joins ranges that lie side by side until they are worth a message, and cuts what is larger. The first
// bucket of a pass is small: so the exchange begins early.
class Buckets {
 public:
  using Give = std::function<void(std::span<float>)>;

  static constexpr size_t kFirstBytes = size_t{1} << 20;

  Buckets(size_t bytes, Give give)
      : floats_(std::max<size_t>(1, bytes / sizeof(float))),
        first_floats_(std::min(floats_, kFirstBytes / sizeof(float))),
        give_(std::move(give)) {}

  void add(std::span<float> range);
  // Gives what is left; the next range is a pass's first.
  void finish();

 private:
  void give_waiting();

  size_t floats_, first_floats_;
  Give give_;
  std::span<float> waiting_ = {};
  bool first_ = true;
};

}  // namespace tacho
