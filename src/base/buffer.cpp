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

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool large = bytes >= kHugePage;
  const size_t unit = large ? kHugePage : kCacheLine;
  const size_t reserved = round_up(bytes, unit);
  void* memory = reserved < bytes ? nullptr : std::aligned_alloc(unit, reserved);
  if (memory == nullptr) {
    throw OutOfMemory(fmt::format("the system refused {:.1f} MiB", static_cast<double>(bytes) / (1 << 20)));
  }
  if (large) madvise(memory, reserved, MADV_HUGEPAGE);
  std::memset(memory, 0, reserved);
  data_ = {static_cast<std::byte*>(memory), Release{}};
}

void Buffer::Release::operator()(std::byte* memory) const { std::free(memory); }

}  // namespace tacho
