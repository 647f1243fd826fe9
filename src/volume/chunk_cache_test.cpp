#include "volume/chunk_cache.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

ChunkCache::Chunk chunk_of(size_t bytes) { return std::make_shared<std::vector<std::byte>>(bytes); }

TEST(ChunkCache, LetsGoOfWhatWasUsedLongestAgo) {
  ChunkCache cache(20);
  cache.keep(1, chunk_of(10));
  cache.keep(2, chunk_of(10));
  EXPECT_NE(cache.find(1), nullptr);
  cache.keep(3, chunk_of(10));
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_NE(cache.find(1), nullptr);
  EXPECT_NE(cache.find(3), nullptr);
  EXPECT_EQ(cache.bytes(), 20U);
}

TEST(ChunkCache, DoesNotKeepWhatIsLargerThanItself) {
  ChunkCache cache(20);
  cache.keep(1, chunk_of(10));
  cache.keep(2, chunk_of(21));
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_NE(cache.find(1), nullptr);
}

TEST(ChunkCache, CountsAChunkOnceThatIsKeptTwice) {
  ChunkCache cache(20);
  cache.keep(1, chunk_of(10));
  cache.keep(1, chunk_of(10));
  EXPECT_EQ(cache.bytes(), 10U);
}

}  // namespace
}  // namespace tacho
