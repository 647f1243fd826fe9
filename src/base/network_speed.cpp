#include "base/network_speed.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tacho {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kBytesPerGbit = 1e9 / 8, kBytesPerMbit = 1e6 / 8;
constexpr double kSecondsPerMs = 1e-3, kSecondsPerUs = 1e-6;

constexpr std::array kBandwidths = {Unit{"Gbit", kBytesPerGbit}, Unit{"Mbit", kBytesPerMbit},
                                    Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6}};
constexpr std::array kTimes = {Unit{"us", kSecondsPerUs}, Unit{"ms", kSecondsPerMs}};

std::optional<double> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const std::optional<double> number = parse_number(text.substr(0, text.size() - unit.name.size()));
    if (number) return *number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

NetworkSpeed parse_network_speed(std::string_view option, std::string_view text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() == 2) {
    const std::optional<double> bytes_per_s = parse_with_unit(parts[0], kBandwidths);
    const std::optional<double> latency_s = parse_with_unit(parts[1], kTimes);
    if (bytes_per_s && *bytes_per_s > 0 && latency_s && *latency_s >= 0) return {*bytes_per_s, *latency_s};
  }
  throw UserError(
      "{} '{}': must be a bandwidth in Gbit, Mbit, GB/s or MB/s and a latency in us or ms, as in 10Gbit,25us",
      option, text);
}

std::string to_string(const NetworkSpeed& speed) {
  const Unit& bandwidth = kBandwidths[speed.bytes_per_s < kBytesPerGbit ? 1 : 0];
  const Unit& time = kTimes[speed.latency_s < kSecondsPerMs ? 0 : 1];
  return fmt::format("{:.4g}{},{:.4g}{}", speed.bytes_per_s / bandwidth.factor, bandwidth.name,
                     speed.latency_s / time.factor, time.name);
}

}  // namespace tacho
