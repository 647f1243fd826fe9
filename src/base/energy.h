#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tacho {

// What the CPU packages have used since it was made, by the counters of RAPL. Others' work counts too.
class EnergyMeter {
 public:
  // `root` is where the system's files are, for tests.
  explicit EnergyMeter(std::filesystem::path root = "/");

  // Nothing where the kernel shows no counters, or not to this user.
  std::optional<double> joules() const;

 private:
  // A package's counter, which starts again at 0 behind `range`.
  struct Counter {
    std::filesystem::path file;
    int64_t begin = 0, range = 0;  // in microjoules
  };
  std::vector<Counter> counters_;
};

}  // namespace tacho
