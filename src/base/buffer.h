#pragma once

#include <cstddef>
#include <memory>

namespace tacho {

struct BufferRelease {
  size_t mapped_bytes = 0;  // 0: from the heap
  void operator()(std::byte* memory) const;
};

// Zeroed memory aligned to a cache line. From 2 MiB on it is aligned to huge pages and backed by them where
// the system has them, and takes no memory before it is touched: so each page lies near the thread that uses
// it first. Throws OutOfMemory where the system refuses.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::byte, BufferRelease> data_;
  size_t bytes_ = 0;
};

}  // namespace tacho
