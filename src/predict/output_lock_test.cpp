#include "predict/output_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/complaint.h"
#include "base/test_folder.h"

namespace tacho {
namespace {

using testing::EndsWith;

TEST(OutputLock, IsHeldByOneAtATime) {
  const TestFolder folder;
  const auto output = folder.path() / "out.zarr";
  std::optional<OutputLock> first(std::in_place, output);
  EXPECT_THAT(complaint([&] { OutputLock{output}; }), EndsWith("out.zarr: another tacho writes it now"));
  first.reset();
  EXPECT_NO_THROW(OutputLock{output});
}

TEST(OutputLock, HoldsNothingWhereItsFileCannotBeOpened) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.path() / ".tacho/lock");
  EXPECT_NO_THROW(OutputLock{folder.path()});
}

}  // namespace
}  // namespace tacho
