#include "base/energy.h"

#include "base/file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Others are parts of a package, such as "core", or hold it, as "psys" does.
bool is_package(const fs::path& folder) {
  return read_file_if_present(folder / "name").starts_with("package");
}

}  // namespace

EnergyMeter::EnergyMeter(fs::path root) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root / "sys/class/powercap", none)) {
    if (!is_package(entry.path())) continue;
    const fs::path file = entry.path() / "energy_uj";
    const auto begin = read_integer_if_present(file),
               range = read_integer_if_present(entry.path() / "max_energy_range_uj");
    if (begin && range) counters_.push_back({file, *begin, *range});
  }
}

std::optional<double> EnergyMeter::joules() const {
  if (counters_.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const Counter& counter : counters_) {
    const auto now = read_integer_if_present(counter.file);
    if (!now) return std::nullopt;
    sum += *now - counter.begin + (*now < counter.begin ? counter.range : 0);
  }
  return static_cast<double>(sum) / 1e6;
}

}  // namespace tacho
