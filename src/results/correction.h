#pragma once

#include <optional>
#include <string>

#include "results/record.h"

namespace tacho {

// The figure as it should have been published: the corrected one where there is one.
inline std::optional<double> corrected_figure(const Record& record, const std::string& name,
                                              const std::optional<double>& published) {
  const auto found = record.corrected.find(name);
  return found == record.corrected.end() ? published : found->second;
}

}  // namespace tacho
