#pragma once

namespace tacho {

// From now on the first Ctrl-C only sets a flag; the second ends the program at once.
void catch_interrupt();

bool interrupted();

inline constexpr int kInterruptedStatus = 130;

}  // namespace tacho
