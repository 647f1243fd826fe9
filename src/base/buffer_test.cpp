#include "base/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/error.h"

namespace tacho {
namespace {

constexpr size_t kMiB = 1 << 20;

bool is_aligned(const void* address, size_t unit) { return reinterpret_cast<uintptr_t>(address) % unit == 0; }

TEST(Buffer, IsAlignedToACacheLine) {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{65}, size_t{1000}}) {
    const Buffer buffer(bytes);
    EXPECT_TRUE(is_aligned(buffer.data(), 64)) << bytes;
    EXPECT_EQ(buffer.bytes(), bytes);
  }
}

TEST(Buffer, IsAlignedToAHugePageWhenLarge) {
  EXPECT_TRUE(is_aligned(Buffer(2 * kMiB).data(), 2 * kMiB));
  EXPECT_TRUE(is_aligned(Buffer(5 * kMiB + 3).data(), 2 * kMiB));
}

TEST(Buffer, IsZeroedEvenWhereMemoryIsUsedAgain) {
  for (const size_t bytes_wanted : {size_t{1000}, size_t{1000}, 5 * kMiB + 3, 5 * kMiB + 3}) {
    Buffer buffer(bytes_wanted);
    const std::span bytes(buffer.data(), buffer.bytes());
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::ranges::fill(bytes, std::byte{7});
  }
}

TEST(Buffer, OfNothingHasNoMemory) {
  EXPECT_EQ(Buffer().data(), nullptr);
  EXPECT_EQ(Buffer(0).data(), nullptr);
}

TEST(Buffer, ThrowsWhereTheSystemRefuses) {
  EXPECT_THROW(Buffer(size_t{1} << 60), OutOfMemory);
  EXPECT_THROW(Buffer(std::numeric_limits<size_t>::max()), OutOfMemory);
}

}  // namespace
}  // namespace tacho
