#pragma once

#include <string>
#include <vector>

namespace tacho {

// Our own lines among what the launcher and the ranks printed.
std::vector<std::string> own_lines(const std::string& output);

// What the launcher says about a rank that a signal or MPI itself ended, in our words; empty where it says
// nothing of the kind.
std::string loss_in(const std::string& output);

// Whether the launcher says that this signal ended a rank.
bool was_ended_by(int signal, const std::string& output);

}  // namespace tacho
