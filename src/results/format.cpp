#include "results/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

constexpr int kMostDecimals = 9;

int decimals_for(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::clamp(decimals, 0, kMostDecimals);
}

constexpr size_t kShownIdLength = 8;

}  // namespace

std::string shown_id(std::string_view id) { return std::string(id.substr(0, kShownIdLength)); }

std::string format_significant(double value, int digits) {
  return fmt::format("{:.{}f}", value, decimals_for(value, digits));
}

std::string format_with_deviation(double value, double deviation, int digits) {
  const int decimals = decimals_for(value, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", value, decimals, deviation, decimals);
}

}  // namespace tacho
