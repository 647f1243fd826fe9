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

inline constexpr double kBehindPercent = 10, kBehindDeviations = 5;
// One of more healthy figures than this is an outlier by chance, where noise is normal: of 12,000 that the
// test draws none is, which says so with 95 % confidence. The deviations are less than they seem, since noise
// is estimated from few samples.
inline constexpr int kFiguresPerFalseAlarm = 4000;

// A host is an outlier where it is behind the median of all hosts by more than so many per cent, and by more
// than so many standard deviations of what is compared: the noise of a host's median, from the spread of its
// samples, and the spread of the hosts around their median.
std::vector<HostStanding> stand(const HostFigures& figures);

}  // namespace tacho
