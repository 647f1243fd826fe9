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

// Large memory by all threads: each part then lies near the thread that a static schedule gives it to.
void zero(std::byte* memory, size_t bytes) {
  const auto pages = static_cast<int64_t>(bytes / kHugePage);
#pragma omp parallel for schedule(static) if (pages > 1)
  for (int64_t page = 0; page < pages; ++page)
    std::memset(memory + static_cast<size_t>(page) * kHugePage, 0, kHugePage);
  std::memset(memory + static_cast<size_t>(pages) * kHugePage, 0, bytes % kHugePage);
}

}  // namespace

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool large = bytes >= kHugePage;
  const size_t unit = large ? kHugePage : kCacheLine;
  const size_t reserved = round_up(bytes, unit);
  void* memory = bytes >= kAddressSpace ? nullptr : std::aligned_alloc(unit, reserved);
  if (memory == nullptr) {
    throw OutOfMemory(fmt::format("the system refused {:.1f} MiB", static_cast<double>(bytes) / (1 << 20)));
  }
  if (large) madvise(memory, reserved, MADV_HUGEPAGE);
  data_ = {static_cast<std::byte*>(memory), Release{}};
  zero(data_.get(), reserved);
}

void Buffer::Release::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace tacho
