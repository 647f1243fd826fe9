#include "base/os.h"

#include <gtest/gtest.h>

#include "base/fake_system.h"

namespace tacho {
namespace {

TEST(Os, IsNamedByItsRelease) {
  FakeSystem system;
  system.with("etc/os-release",
              "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
  EXPECT_EQ(os_name(system.root()), "Debian GNU/Linux 12 (bookworm)");
}

TEST(Os, MayBeNamedWithoutQuotesAndElsewhere) {
  FakeSystem system;
  system.with("usr/lib/os-release", "PRETTY_NAME=Arch\n");
  EXPECT_EQ(os_name(system.root()), "Arch");
}

TEST(Os, IsNamedByItsKernelWhereThereIsNoRelease) {
  const FakeSystem system;
  EXPECT_EQ(os_name(system.root()), "Linux");
}

TEST(Os, HasAKernelAndAHost) {
  EXPECT_FALSE(kernel_version().empty());
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace tacho
