#pragma once

#include <map>
#include <vector>

#include "engine/native/assembler.h"

namespace tacho::native {

// Offset of every slot within its storage, and how large each storage is. Inputs and outputs are part of the
// arena.
struct Placement {
  std::vector<int64_t> offsets;
  std::map<Storage, int64_t> bytes;
};

Placement place(const Assembly& assembly);

}  // namespace tacho::native
