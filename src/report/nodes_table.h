#pragma once

#include <span>
#include <string>

#include "report/grid.h"
#include "results/outliers.h"

namespace tacho {

// A row a host: its figures, how far each is behind the median of all, and what is wrong with it.
Grid nodes_table(std::span<const std::string> hosts, std::span<const HostFigures> figures);

// By which rule a host is slow, and how rarely a healthy one is.
std::string outlier_rule(std::span<const std::string> hosts, std::span<const HostFigures> figures);

// The hosts that are behind in any figure.
std::vector<std::string> slow_hosts(std::span<const std::string> hosts, std::span<const HostFigures> figures);

}  // namespace tacho
