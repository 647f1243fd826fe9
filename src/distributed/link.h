#pragma once

#include "distributed/communicator.h"

namespace tacho {

// What lies between two ranks.
struct LinkSpeed {
  double latency_us = 0;     // of a message of a few bytes, one way
  double bandwidth_gbs = 0;  // 10^9 bytes/s in one direction while as much comes the other way
};

// All ranks at once, but for the two the call does nothing and gives nothing.
LinkSpeed measure_link(Communicator& ranks, int a, int b);

}  // namespace tacho
