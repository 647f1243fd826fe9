#include "bench/suites.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "bench/sweep.h"

namespace tacho {
namespace {

TEST(Suites, EveryCaseOfEverySuiteCanRun) {
  for (const Suite& suite : suites()) {
    const auto cells = suite.cases(2);
    EXPECT_FALSE(cells.empty()) << suite.name;
    for (const Case& cell : cells) EXPECT_NO_THROW(check_case(cell)) << cell.model;
  }
}

TEST(Suites, AnUnknownNameIsRefused) { EXPECT_THROW(find_suite("slow"), UserError); }

}  // namespace
}  // namespace tacho
