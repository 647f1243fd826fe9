#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/profile.h"

namespace tacho {

// One layer of a profile, or several summed up.
struct ProfileRow {
  std::string phase = {}, name = {}, op = {}, kernel = {};  // empty where they differ
  int layers = 1;
  double ms = 0;             // the median
  double attainable_ms = 0;  // by the roofline: its FLOP at the peak or its bytes at full bandwidth
  int64_t flop = 0, bytes = 0;
};

// Nothing where the row has no such work, or its time or the peak is not known.
std::optional<double> gflops(const ProfileRow& row);
std::optional<double> gigabytes_per_s(const ProfileRow& row);
std::optional<double> percent_of_peak(const ProfileRow& row, const MachineSpeed& speed);
std::optional<double> percent_of_roofline(const ProfileRow& row);

// In order of execution.
std::vector<ProfileRow> layer_rows(const Profile& profile);

// One for each op and kernel, the most expensive first.
std::vector<ProfileRow> kernel_rows(std::span<const ProfileRow> layers);

// The `count` most expensive, still in order of execution, then one row for all the others.
std::vector<ProfileRow> most_expensive(std::span<const ProfileRow> layers, size_t count);

double sum_ms(std::span<const ProfileRow> rows);

// The median over the recorded passes of what all layers took together. The sum of the layers' medians lies
// below it where disturbances hit another layer in each pass.
double layers_of_a_pass_ms(const Profile& profile);

}  // namespace tacho
