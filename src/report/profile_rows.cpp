#include "report/profile_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "results/statistics.h"

namespace tacho {
namespace {

double ms_at(int64_t amount, double giga_per_s) {
  return giga_per_s > 0 ? static_cast<double>(amount) / giga_per_s / 1e6 : 0;
}

std::optional<double> giga_per_s(int64_t amount, double ms) {
  if (amount == 0 || ms <= 0) return std::nullopt;
  return static_cast<double>(amount) / ms / 1e6;
}

ProfileRow row_of(const LayerTimes& layer, const MachineSpeed& speed) {
  return {
      .phase = layer.phase,
      .name = layer.name,
      .op = layer.op,
      .kernel = layer.kernel,
      .ms = median(layer.samples_ms),
      .attainable_ms = std::max(ms_at(layer.flop, speed.fma_gflops), ms_at(layer.bytes, speed.bandwidth_gbs)),
      .flop = layer.flop,
      .bytes = layer.bytes};
}

void add(const ProfileRow& row, ProfileRow& sum) {
  sum.layers += row.layers;
  sum.ms += row.ms;
  sum.attainable_ms += row.attainable_ms;
  sum.flop += row.flop;
  sum.bytes += row.bytes;
}

}  // namespace

std::optional<double> gflops(const ProfileRow& row) { return giga_per_s(row.flop, row.ms); }

std::optional<double> gigabytes_per_s(const ProfileRow& row) { return giga_per_s(row.bytes, row.ms); }

std::optional<double> percent_of_peak(const ProfileRow& row, const MachineSpeed& speed) {
  const auto reached = gflops(row);
  if (!reached || speed.fma_gflops <= 0) return std::nullopt;
  return 100 * *reached / speed.fma_gflops;
}

std::optional<double> percent_of_roofline(const ProfileRow& row) {
  if (row.attainable_ms <= 0 || row.ms <= 0) return std::nullopt;
  return 100 * row.attainable_ms / row.ms;
}

std::vector<ProfileRow> layer_rows(const Profile& profile) {
  std::vector<ProfileRow> rows;
  for (const LayerTimes& layer : profile.layers) rows.push_back(row_of(layer, profile.speed));
  return rows;
}

std::vector<ProfileRow> kernel_rows(std::span<const ProfileRow> layers) {
  std::vector<ProfileRow> sums;
  for (const ProfileRow& layer : layers) {
    auto sum = std::ranges::find_if(
        sums, [&](const ProfileRow& s) { return s.op == layer.op && s.kernel == layer.kernel; });
    if (sum == sums.end())
      sum = sums.insert(sums.end(), {.op = layer.op, .kernel = layer.kernel, .layers = 0});
    add(layer, *sum);
  }
  std::ranges::stable_sort(sums, std::greater(), &ProfileRow::ms);
  return sums;
}

std::vector<ProfileRow> most_expensive(std::span<const ProfileRow> layers, size_t count) {
  if (layers.size() <= count) return {layers.begin(), layers.end()};
  std::vector<size_t> order(layers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return layers[i].ms; });
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<ProfileRow> rows;
  ProfileRow rest = {.layers = 0};
  for (size_t i = 0; i < order.size(); ++i) {
    if (i < count) {
      rows.push_back(layers[order[i]]);
    } else {
      add(layers[order[i]], rest);
    }
  }
  rest.name = fmt::format("{} other layer{}", rest.layers, rest.layers == 1 ? "" : "s");
  rows.push_back(rest);
  return rows;
}

double sum_ms(std::span<const ProfileRow> rows) {
  double sum = 0;
  for (const ProfileRow& row : rows) sum += row.ms;
  return sum;
}

double layers_of_a_pass_ms(const Profile& profile) {
  std::vector<double> sums(profile.layers.front().samples_ms.size());
  for (const LayerTimes& layer : profile.layers) {
    for (size_t pass = 0; pass < sums.size(); ++pass) sums[pass] += layer.samples_ms[pass];
  }
  return median(sums);
}

}  // namespace tacho
