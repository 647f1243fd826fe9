#include "allocation_counter.h"

#include <execinfo.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

struct AddressRange {
  uintptr_t begin = 0, end = 0;
  bool contains(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return begin <= at && at < end;
  }
};

// Where the program and the libraries that allocate on behalf of their caller are mapped.
struct MemoryMap {
  AddressRange program;
  std::array<AddressRange, 4> carriers;
  size_t carrier_count = 0;

  bool is_carrier(const void* address) const {
    for (size_t i = 0; i < carrier_count; ++i) {
      if (carriers[i].contains(address)) return true;
    }
    return false;
  }
};

MemoryMap memory_map;
std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};
thread_local bool inside_hook = false;

AddressRange range_of(const dl_phdr_info& object) {
  AddressRange range{UINTPTR_MAX, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    range.begin = begin < range.begin ? begin : range.begin;
    range.end = begin + segment.p_memsz > range.end ? begin + segment.p_memsz : range.end;
  }
  return range;
}

int note_object(dl_phdr_info* object, size_t, void*) {
  const char* name = object->dlpi_name;
  const bool is_program = name == nullptr || name[0] == '\0';
  if (is_program && memory_map.program.end == 0) {
    memory_map.program = range_of(*object);
  } else if (name != nullptr && (std::strstr(name, "libstdc++") || std::strstr(name, "libc.so")) &&
             memory_map.carrier_count < memory_map.carriers.size()) {
    memory_map.carriers[memory_map.carrier_count++] = range_of(*object);
  }
  return 0;
}

// Whether the nearest caller of the hook, carriers left out, is the program itself.
bool is_program(void* hook_caller) {
  constexpr int kDepth = 24;
  std::array<void*, kDepth> frames;
  const int depth = backtrace(frames.data(), kDepth);
  bool past_hook = false;
  for (int i = 0; i < depth; ++i) {
    void* frame = frames[static_cast<size_t>(i)];
    past_hook = past_hook || frame == hook_caller;
    if (past_hook && !memory_map.is_carrier(frame)) return memory_map.program.contains(frame);
  }
  return false;
}

void note_allocation(void* hook_caller) {
  if (!counting.load(std::memory_order_relaxed) || inside_hook) return;
  inside_hook = true;
  if (is_program(hook_caller)) allocations.fetch_add(1, std::memory_order_relaxed);
  inside_hook = false;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  note_allocation(__builtin_return_address(0));
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  note_allocation(__builtin_return_address(0));
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  note_allocation(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  note_allocation(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  note_allocation(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  note_allocation(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

}  // extern "C"

namespace tacho::conformance {

AllocationCounter::AllocationCounter() {
  if (memory_map.program.end == 0) dl_iterate_phdr(note_object, nullptr);
  std::array<void*, 4> frames;
  backtrace(frames.data(), static_cast<int>(frames.size()));  // the first call allocates
  allocations = 0;
  counting = true;
}

AllocationCounter::~AllocationCounter() { counting = false; }

int64_t AllocationCounter::count() const { return allocations; }

}  // namespace tacho::conformance
