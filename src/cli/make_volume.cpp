#include "cli/make_volume.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "volume/make_cremi.h"

namespace tacho {

bool make_volume(const std::filesystem::path& file, const Point& shape, uint64_t seed) {
  Progress progress({1});
  const std::string what = fmt::format("making {} voxels", to_string(shape));
  return make_cremi(file, shape, seed, [&](double share_done) {
    progress.show(0, true, fmt::format("{}: {:.0f} %", what, 100 * share_done), share_done);
    return !interrupted();
  });
}

}  // namespace tacho
