#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "graph/graph.h"

namespace tacho {

inline void expect_same(const Weights& a, const Weights& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a)
    EXPECT_EQ(std::memcmp(tensor.raw(), b.at(name).raw(), tensor.bytes()), 0) << name;
}

}  // namespace tacho
