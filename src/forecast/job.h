#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.h"
#include "results/statistics.h"

// How long a job takes on a machine, from what was measured there. Pure functions of records.
namespace tacho {

inline constexpr double kSecondsPerHour = 3600;

// The size of a job; `epochs` go over `images` each.
struct JobSize {
  std::optional<double> iterations = {}, epochs = {}, images = {}, voxels = {};
};

// The time that one unit of work takes, with the interval that the measured noise leaves.
struct UnitTime {
  double seconds = 0;
  std::optional<ConfidenceInterval> interval = {};  // 95 %; nothing where there were no samples
};

struct Estimate {
  std::string what;  // "90 epochs of 1,281,167 images"
  double units = 0;
  UnitTime unit;
  std::string basis = {};  // what the figure leaves out or assumes; empty where there is nothing to say

  double seconds() const { return units * unit.seconds; }
};

// Of one pass, or of one image where only a rate is known. Published rates are taken as corrected.
std::optional<UnitTime> iteration_time(const Record& record);
std::optional<UnitTime> image_time(const Record& record);
std::optional<UnitTime> voxel_time(const Record& record);

// What the record can say about the job: training records about iterations and epochs, inference about images
// and voxels. Empty where it says nothing.
std::vector<Estimate> estimate(const Record& record, const JobSize& job);

}  // namespace tacho
