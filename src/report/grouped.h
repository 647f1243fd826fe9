#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "results/record.h"

namespace tacho {

// Groups of records that have the same of what `key` gives, each where the first of its records stands.
template<typename Key>
std::vector<std::vector<Record>> grouped(std::span<const Record> records, Key key) {
  std::vector<std::vector<Record>> groups;
  for (const Record& record : records) {
    const auto known = std::ranges::find_if(groups, [&](const std::vector<Record>& group) {
      return std::invoke(key, group[0]) == std::invoke(key, record);
    });
    (known == groups.end() ? groups.emplace_back() : *known).push_back(record);
  }
  return groups;
}

}  // namespace tacho
