#include "base/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace tacho {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kAddressSpace = size_t{1} << 47;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Null where the system refuses. What is mapped beyond the aligned part is given back.
std::byte* map_huge_pages(size_t bytes) {
  void* mapping =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapping);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const size_t before = round_up(address, kHugePage) - address;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

std::byte* allocate_zeroed(size_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, bytes));
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

}  // namespace

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool large = bytes >= kHugePage;
  const size_t reserved = bytes >= kAddressSpace ? 0 : round_up(bytes, large ? kHugePage : kCacheLine);
  std::byte* memory = nullptr;
  if (reserved > 0) memory = large ? map_huge_pages(reserved) : allocate_zeroed(reserved);
  if (memory == nullptr) {
    throw OutOfMemory(fmt::format("the system refused {:.1f} MiB", static_cast<double>(bytes) / (1 << 20)));
  }
  data_ = {memory, BufferRelease{large ? reserved : 0}};
}

void BufferRelease::operator()(std::byte* memory) const {
  if (mapped_bytes > 0) {
    munmap(memory, mapped_bytes);
  } else {
    std::free(memory);
  }
}

}  // namespace tacho
