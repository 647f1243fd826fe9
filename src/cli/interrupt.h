#pragma once

namespace tacho {

// From now on the first Ctrl-C only sets a flag; the second ends the program at once. A rank of a launcher is
// told so by other signals too, and is ended by its launcher.
void catch_interrupt(bool is_rank);

bool interrupted();

// Started by nohup, the program outlives its terminal, though libraries that MPI brings along (UCX) take the
// signal for themselves when they are loaded.
void keep_ignoring_hang_up();

inline constexpr int kInterruptedStatus = 130;

}  // namespace tacho
