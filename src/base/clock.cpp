#include "base/clock.h"

#include <fmt/chrono.h>

namespace tacho {

std::string utc_now() {
  return fmt::format("{:%FT%TZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace tacho
