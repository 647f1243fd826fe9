#pragma once

#include <cstddef>
#include <memory>

namespace tacho {

// Zeroed memory aligned to a cache line; from 2 MiB on, aligned to and backed by huge pages where the system
// has them. Throws OutOfMemory where the system refuses.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Release {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Release> data_;
  size_t bytes_ = 0;
};

}  // namespace tacho
