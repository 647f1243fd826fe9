#include "data/data_set.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

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

void check_labels(const ImageSet& set, int64_t classes, const std::string& source) {
  const auto wrong =
      std::ranges::find_if(set.labels, [&](int64_t label) { return label < 0 || label >= classes; });
  if (wrong == set.labels.end()) return;
  throw UserError("{}: image {} has label {}, but the labels of {} classes are 0 to {}", source,
                  wrong - set.labels.begin(), *wrong, classes, classes - 1);
}

}  // namespace tacho
