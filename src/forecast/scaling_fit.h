#pragma once

#include <optional>
#include <span>
#include <vector>

#include "report/pairing.h"
#include "results/record.h"

// How a case that was measured on a few numbers of devices goes on with more. Pure functions of records.
namespace tacho {

// Records of one case with the same batch on each device; they differ in the number of devices.
struct ScalingSeries {
  const Metric* metric;         // one that all of them have
  std::vector<Record> records;  // by devices, each number once

  std::vector<int> devices() const;
  // Nothing where no record is of so many.
  std::optional<double> figure_on(int devices) const;
};

// Of two numbers of devices and more.
std::vector<ScalingSeries> scaling_series(std::span<const Record> records);

// step(n) = first + per_doubling log2(n): every doubling of the devices costs the same, as another level of a
// tree does, and as waiting for the last of n does where delays are exponentially distributed.
struct ScalingFit {
  double first = 0;  // in a unit of its own, as both are
  double per_doubling = 0;

  double step_on(int devices) const;
  double speedup_on(int devices) const { return devices * first / step_on(devices); }
  // In the unit of the metric.
  double figure_on(int devices, const Metric& metric) const;
};

// Through the records of these numbers of devices, by least squares where there are more than two. A cost is
// never negative. Nothing where the series lacks one of the numbers, or grows so fast that a step on one
// device would take no time.
std::optional<ScalingFit> fit_scaling(const ScalingSeries& series, std::span<const int> from);

}  // namespace tacho
