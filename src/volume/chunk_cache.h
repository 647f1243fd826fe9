#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tacho {

// The decoded chunks that were used last, as many as `most_bytes` hold.
class ChunkCache {
 public:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;

  explicit ChunkCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null where it is not held.
  Chunk find(int64_t number);
  void keep(int64_t number, Chunk chunk);
  size_t bytes() const { return bytes_; }

 private:
  struct Held {
    int64_t number;
    Chunk chunk;
  };

  size_t most_bytes_, bytes_ = 0;
  std::list<Held> held_;  // the last used first
  std::unordered_map<int64_t, std::list<Held>::iterator> places_;
};

}  // namespace tacho
