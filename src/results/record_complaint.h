#pragma once

#include "base/complaint.h"
#include "results/record_json.h"

namespace tacho {

// For tests: why this is no record.
inline std::string complaint_about(const Json& json) {
  return complaint([&] { record_from_json(json); });
}

}  // namespace tacho
