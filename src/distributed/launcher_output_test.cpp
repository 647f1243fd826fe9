#include "distributed/launcher_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace tacho {
namespace {

const char* const kSaidByOpenMpi4 =
    "--------------------------------------------------------------------------\n"
    "mpirun noticed that process rank 1 with PID 0 on node lab exited on signal 9 (Killed).\n"
    "--------------------------------------------------------------------------\n";

TEST(LauncherOutput, TellsOfARankThatASignalEnded) {
  EXPECT_EQ(loss_in(kSaidByOpenMpi4), "rank 1 on host lab was ended by signal 9 (Killed)");
  EXPECT_TRUE(was_ended_by(SIGKILL, kSaidByOpenMpi4));
  EXPECT_FALSE(was_ended_by(SIGUSR1, kSaidByOpenMpi4));
}

TEST(LauncherOutput, MayBreakItsSentencesIntoLines) {
  const std::string said =
      "prterun noticed that process rank 0 with PID 5227 on node lab exited on\n"
      "signal 10 (User defined signal 1).\n";
  EXPECT_EQ(loss_in(said), "rank 0 on host lab was ended by signal 10 (User defined signal 1)");
  EXPECT_TRUE(was_ended_by(SIGUSR1, said));
}

TEST(LauncherOutput, TellsOfRanksThatMpiEnded) {
  EXPECT_EQ(loss_in("[lab:1] *** MPI_ERR_OTHER: known error not in list\n[lab:1] *** aborts\n"),
            "the ranks were ended by MPI, MPI_ERR_OTHER: known error not in list");
  EXPECT_EQ(loss_in("all is well\n"), "");
}

TEST(LauncherOutput, HoldsOurOwnLinesAmongOthers) {
  EXPECT_THAT(own_lines("mpirun has exited\ntacho: rank 1 is lost\n  tacho: no\ntacho: note: done"),
              testing::ElementsAre("tacho: rank 1 is lost", "tacho: note: done"));
}

}  // namespace
}  // namespace tacho
