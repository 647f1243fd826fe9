#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/carried.h"

namespace tacho {

// A GPU as its driver describes it; what that does not tell is absent.
struct GpuInfo {
  std::string name = {}, driver = {};
  std::optional<int64_t> memory_mib = {};
  std::optional<int64_t> clock_mhz = {};  // of its processors, at most
  std::optional<double> power_limit_watts = {};
  std::string bus_id = {};  // such as "0000:65:00.0"
  std::optional<int64_t> clock_now_mhz = {};
  std::optional<double> power_watts = {};  // now
  Carried carried = {};
};

// NVIDIA's driver, asked through its management library: that is looked for here and now, since machines
// without GPUs have none.
class GpuDriver {
 public:
  explicit GpuDriver(const std::string& library = "libnvidia-ml.so.1");

  // Empty without a driver.
  std::vector<GpuInfo> gpus() const;
  // Used by the GPU on this PCI bus, such as "0000:65:00.0", since its driver was loaded; old ones do not
  // count.
  std::optional<double> joules(const std::string& bus_id) const;

 private:
  struct Library;
  std::shared_ptr<const Library> library_;  // null without a driver
};

}  // namespace tacho
