#include "volume/chunk_cache.h"

namespace tacho {

ChunkCache::Chunk ChunkCache::find(int64_t number) {
  const auto place = places_.find(number);
  if (place == places_.end()) return nullptr;
  held_.splice(held_.begin(), held_, place->second);
  return held_.front().chunk;
}

void ChunkCache::keep(int64_t number, Chunk chunk) {
  if (find(number) != nullptr || chunk->size() > most_bytes_) return;
  bytes_ += chunk->size();
  held_.push_front({number, std::move(chunk)});
  places_[number] = held_.begin();
  while (bytes_ > most_bytes_) {
    bytes_ -= held_.back().chunk->size();
    places_.erase(held_.back().number);
    held_.pop_back();
  }
}

}  // namespace tacho
