#pragma once

#include <string>
#include <vector>

namespace tacho {

// One figure of every host, measured several times.
struct HostFigures {
  std::string what = {}, unit = {};
  std::vector<std::vector<double>> samples = {};  // by host; more is better
};

// How a host stands to all of them.
struct HostStanding {
  double value = 0;           // median of its samples
  double behind_percent = 0;  // below the median of all hosts; negative: above
  double limit_percent = 0;   // what noise explains
  bool is_outlier() const { return behind_percent > limit_percent; }
};

// A host is an outlier where it is behind the median of all hosts by more than 10 %, and by more than five
// standard deviations of what is compared: the noise of a host's median, from the spread of its samples, and
// the spread of the hosts around their median. That noise is estimated from few samples, so five are less
// than they seem: of 12,000 healthy figures that the test draws with normal noise none is named, which says
// with 95 % confidence that it happens to fewer than 1 in 4,000.
std::vector<HostStanding> stand(const HostFigures& figures);

}  // namespace tacho
