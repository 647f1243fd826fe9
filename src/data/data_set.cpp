#include "data/data_set.h"

#include <limits>

#include "base/memory.h"

namespace tacho {

void require_memory_for(int64_t count, int64_t bytes_each) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  require_memory(bytes_each > 0 && count > kMost / bytes_each ? kMost : count * bytes_each);
}

}  // namespace tacho
