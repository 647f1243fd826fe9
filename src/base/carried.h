#pragma once

#include <string>
#include <vector>

namespace tacho {

// An entry of a JSON object that this program has no name for: a newer one's, given back as it came.
struct CarriedEntry {
  std::string name, json;
};

using Carried = std::vector<CarriedEntry>;

}  // namespace tacho
