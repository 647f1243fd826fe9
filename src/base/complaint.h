#pragma once

#include <gmock/gmock.h>

#include <string>

#include "base/error.h"

namespace tacho {

// For tests: the text of the UserError that `action` throws, which must be one line.
template<typename Action>
std::string complaint(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    return error.what();
  }
  return "no complaint";
}

}  // namespace tacho
