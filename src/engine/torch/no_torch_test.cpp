#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/engines.h"

namespace tacho {
namespace {

TEST(ABuildWithoutLibtorch, HasTheOtherEngines) {
  std::vector<std::string_view> names;
  for (const Engine* engine : engines()) names.push_back(engine->name());
  EXPECT_THAT(names, testing::ElementsAre("native", "reference", "null"));
}

TEST(ABuildWithoutLibtorch, SaysWhatIsMissing) {
  EXPECT_THAT([] { find_engine("torch"); }, testing::ThrowsMessage<UserError>(testing::HasSubstr(
                                                "this tacho has no libtorch; scripts/install-dependencies")));
}

}  // namespace
}  // namespace tacho
