#pragma once

#include <string>

#include "results/profile.h"

namespace tacho {

// The layers of the last recorded pass in the Chrome trace event format, which chrome://tracing and Perfetto
// open.
std::string format_trace(const Profile& profile);

}  // namespace tacho
