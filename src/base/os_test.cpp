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

TEST(MachineId, StaysTheSameAndDiffersBetweenInstallations) {
  FakeSystem one, other;
  one.with("etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n");
  other.with("etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda5\n");
  EXPECT_EQ(machine_id(one.root()), machine_id(one.root()));
  EXPECT_NE(machine_id(one.root()), machine_id(other.root()));
  EXPECT_EQ(machine_id(one.root()).size(), 16u);
}

TEST(MachineId, DoesNotTellTheSystemsOwnId) {
  FakeSystem system;
  system.with("etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n");
  EXPECT_EQ(std::string("3d1219c7c4c5404aaa1f6d2a48adfda4").find(machine_id(system.root())),
            std::string::npos);
}

TEST(Os, HasAKernelAndAHost) {
  EXPECT_FALSE(kernel_version().empty());
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(boot_id().size(), 36u);
}

}  // namespace
}  // namespace tacho
