#include "train/volume_score.h"

#include <algorithm>
#include <cassert>

#include "graph/op.h"

namespace tacho {
namespace {

constexpr size_t kChannels = 3;
constexpr size_t kConstants = 256;  // 1/256, 2/256, ... 1
// What the sums are of, in this order; behind them the losses of each constant, channel by channel.
enum Sum : size_t { windows, loss, found, missed, false_alarms, constants };

double dice(double product, double squares) { return -2 * product / std::max(squares, kDiceFloor); }

struct Channel {
  double product = 0, predicted_squares = 0, ones = 0;
  double found = 0, missed = 0, false_alarms = 0;
};

Channel look_at(std::span<const float> predictions, std::span<const float> targets, bool inverted) {
  Channel seen;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto x = static_cast<double>(predictions[i]), y = static_cast<double>(targets[i]);
    const bool says_boundary = (x < 0.5) != inverted, is_boundary = (y < 0.5) != inverted;
    seen.product += x * y;
    seen.predicted_squares += x * x;
    seen.ones += y;
    seen.found += says_boundary && is_boundary ? 1 : 0;
    seen.missed += !says_boundary && is_boundary ? 1 : 0;
    seen.false_alarms += says_boundary && !is_boundary ? 1 : 0;
  }
  return seen;
}

}  // namespace

VolumeScore::VolumeScore(VolumeTargets targets)
    : targets_(targets), sums_(constants + kChannels * kConstants) {}

void VolumeScore::add(std::span<const float> predictions, std::span<const float> targets) {
  assert(predictions.size() == targets.size() && targets.size() % kChannels == 0);
  const size_t voxels = targets.size() / kChannels;
  sums_[windows] += 1;
  for (size_t c = 0; c < kChannels; ++c) {
    const Channel seen = look_at(predictions.subspan(c * voxels, voxels), targets.subspan(c * voxels, voxels),
                                 targets_ == VolumeTargets::boundaries);
    sums_[loss] += dice(seen.product, seen.predicted_squares + seen.ones);
    sums_[found] += seen.found;
    sums_[missed] += seen.missed;
    sums_[false_alarms] += seen.false_alarms;
    for (size_t i = 0; i < kConstants; ++i) {
      const double constant = static_cast<double>(i + 1) / kConstants;
      sums_[constants + c * kConstants + i] +=
          dice(constant * seen.ones, constant * constant * static_cast<double>(voxels) + seen.ones);
    }
  }
}

void VolumeScore::report(Epoch& epoch) const {
  epoch.test_loss = sums_[loss] / sums_[windows];
  double constant = 0;
  for (size_t c = 0; c < kChannels; ++c) {
    const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(constants + c * kConstants);
    constant += *std::min_element(begin, begin + kConstants);
  }
  epoch.constant_loss = constant / sums_[windows];
  const double boundaries = 2 * sums_[found] + sums_[missed] + sums_[false_alarms];
  epoch.boundary_f1 = boundaries > 0 ? 2 * sums_[found] / boundaries : 1;
}

}  // namespace tacho
