#include "data/data_set.h"

#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/memory.h"

namespace tacho {

ImageSet first_of(const ImageSet& set, int64_t count) {
  if (count < 1 || count > set.count()) {
    throw UserError("--subset {}: the data set has {} training images", count, set.count());
  }
  Shape shape = set.images.shape();
  shape[0] = count;
  ImageSet part = {Tensor(shape, set.images.dtype()), {set.labels.begin(), set.labels.begin() + count}};
  std::memcpy(part.images.raw(), set.images.raw(), part.images.bytes());
  return part;
}

void require_memory_for(int64_t count, int64_t bytes_each) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  require_memory(bytes_each > 0 && count > kMost / bytes_each ? kMost : count * bytes_each);
}

}  // namespace tacho
