#include "distributed/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/environment_variable.h"
#include "base/error.h"
#include "distributed/caller.h"

namespace tacho {
namespace {

// Whatever launched the test itself.
class Launched : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID",
                             "SLURM_STEP_NUM_TASKS"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Launched, ByNobody) {
  EXPECT_EQ(launched_ranks(), 0);
  EXPECT_TRUE(is_first_launched());
  EXPECT_FALSE(Caller().is_there());
}

TEST_F(Launched, ByMpirun) {
  const EnvironmentVariable size("OMPI_COMM_WORLD_SIZE", "4"), rank("OMPI_COMM_WORLD_RANK", "2");
  EXPECT_EQ(launched_ranks(), 4);
  EXPECT_FALSE(is_first_launched());
}

TEST_F(Launched, BySrunWithPmix) {
  const EnvironmentVariable rank("PMIX_RANK", "0"), tasks("SLURM_STEP_NUM_TASKS", "8");
  EXPECT_EQ(launched_ranks(), 8);
  EXPECT_TRUE(is_first_launched());
}

TEST_F(Launched, BySrunWithoutPmixIsRefused) {
  const EnvironmentVariable rank("SLURM_PROCID", "1"), tasks("SLURM_STEP_NUM_TASKS", "2");
  EXPECT_THAT([] { launched_ranks(); }, testing::ThrowsMessage<UserError>(testing::HasSubstr("--mpi=pmix")));
}

TEST_F(Launched, InAnAllocationOfOneTaskByNobody) {
  const EnvironmentVariable rank("SLURM_PROCID", "0"), tasks("SLURM_STEP_NUM_TASKS", "1");
  EXPECT_EQ(launched_ranks(), 0);
}

}  // namespace
}  // namespace tacho
