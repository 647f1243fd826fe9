#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "kernels/blocked/widths.h"

// Kernels on blocks of channels are tested on blocks of each width.
namespace tacho {

// Tests whose parameters are the channels of a block, and perhaps others.
template<typename... Others>
class OnBlocks : public testing::TestWithParam<std::tuple<int64_t, Others...>> {
 protected:
  void SetUp() override {
    if (const auto reason = blocked::why_unsupported(lanes_)) GTEST_SKIP() << *reason;
  }

  // A convolution, sweep or pooling, on these blocks.
  template<typename Work>
  Work on_blocks(Work work) const {
    work.lanes = lanes_;
    return work;
  }

  const int64_t lanes_ = std::get<0>(OnBlocks::GetParam());
};

template<typename... Generators>
auto with_all_lanes(const Generators&... others) {
  return testing::Combine(testing::Values(int64_t{8}, int64_t{16}), others...);
}

// The end of a test's name.
inline constexpr auto lanes_name = [](const auto& test) {
  return std::to_string(std::get<0>(test.param)) + "_lanes";
};

}  // namespace tacho
