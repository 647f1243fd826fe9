#pragma once

#include <span>
#include <string>
#include <vector>

namespace tacho {

// How many ranks the launcher made that started this process: 0 where none did. Throws UserError for a
// launcher that started several processes and did not tell them of each other.
int launched_ranks();
// Whether this process is the launcher's rank 0, or was not launched.
bool is_first_launched();

// Waits until the launcher, if there is one, should have passed on what this rank has said. Open MPI 5 ends
// all ranks when one ends with an error, and drops what it has then; and the line of stdout that it has read
// half of becomes one of stderr where that comes next.
void let_words_pass();

// Where this process was started by mpirun itself: ends that after a while, also if it has ended this process
// by then. By itself it would wait for hosts that are gone.
void end_own_launcher_after(int seconds);

// Of a call that lost a rank.
inline constexpr int kLostStatus = 1;

// How the ranks of a launcher ended.
struct LaunchEnd {
  int status = 0;                       // of rank 0; kLostStatus where a rank was lost
  std::vector<std::string> words = {};  // that are left to say, a line each
  bool interrupted = false;             // by Ctrl-C before they were ready for it
};

// Runs this program `ranks` times with these arguments, as ranks of one launcher on this machine, and waits
// for their end. Ctrl-C reaches them as SIGUSR1. `after_loss` follows the news of a lost rank where no rank
// was left to tell it. Throws UserError where there is no launcher.
LaunchEnd start_local_ranks(int ranks, std::span<const std::string> arguments, const std::string& after_loss);

}  // namespace tacho
