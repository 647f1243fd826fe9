#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/world.h"
#include "results/outliers.h"

namespace tacho {

// What is measured on every host, to find one that is slower than the others.
struct NodeCheck {
  std::vector<std::string> hosts = {};
  std::vector<HostFigures> figures = {};  // each over the hosts
};

struct NodeCheckOptions {
  int threads = 1;  // per host
  int rounds = 5;
};

// All ranks at once; of each host the first rank stands for it and computes with its cores, while the others
// are idle. FMA peak, memory bandwidth and training of a network, all hosts at the same time and one after
// the other, and exchanges between pairs. `progress` is told what comes next, and which share is done.
NodeCheck check_nodes(World& world, const NodeCheckOptions& options,
                      const std::function<void(const std::string& what, double share)>& progress);

}  // namespace tacho
