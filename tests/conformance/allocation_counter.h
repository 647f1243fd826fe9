#pragma once

#include <cstdint>

namespace tacho::conformance {

// Counts heap allocations that the program's own code makes, on any thread, directly or through the C++ and C
// libraries. What other shared libraries (oneDNN, OpenMP) allocate for themselves does not count.
// Linking this replaces malloc and its relatives for the whole program.
class AllocationCounter {
 public:
  AllocationCounter();   // starts counting
  ~AllocationCounter();  // stops
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  int64_t count() const;
};

}  // namespace tacho::conformance
