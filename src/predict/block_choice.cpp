#include "predict/block_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "graph/cost.h"
#include "graph/receptive_field.h"
#include "predict/pipeline.h"
#include "predict/tiling.h"

namespace tacho {
namespace {

// A chunk of three channels of bytes stays below 100 MB, and a kill loses no more than this.
constexpr int64_t kMostVoxels = int64_t{32} << 20;
constexpr double kGrowth = 1.25;          // of an axis in one step, at least one stride
constexpr size_t kMeasured = 3;           // candidates at the most
constexpr double kMeasuringShare = 0.01;  // of the prediction's work, for each of them
constexpr double kWorthMeasuring = 0.7;   // of the best candidate's estimated speed

struct Candidate {
  Point block = {};
  BlockCost cost = {};

  double flop_per_voxel() const { return cost.flop / static_cast<double>(voxels(block)); }
};

class Growth {
 public:
  Growth(const Graph& network, const Engine& engine, const CompileOptions& options, const Point& volume,
         const BlockOptions& asked, const BlockLimits& limits)
      : network_(network),
        engine_(engine),
        options_(options),
        volume_(volume),
        asked_(asked),
        limits_(limits) {
    channels_ = network.shape(network.outputs[0])[1];
    const Extents strides = total_strides(network);
    std::ranges::copy(strides, strides_.begin());
  }

  // Each larger than the one before it.
  std::vector<Candidate> steps() const {
    std::vector<Candidate> list = {candidate(strides_)};
    if (list[0].cost.memory_bytes > limits_.memory_bytes) {
      throw UserError("not even a block of {} fits: it takes {}, and {} are left", to_string(strides_),
                      format_bytes(list[0].cost.memory_bytes), format_bytes(limits_.memory_bytes));
    }
    while (const auto next = larger(list.back())) list.push_back(*next);
    return list;
  }

  Candidate candidate(const Point& block) const {
    BlockOptions asked = asked_;
    asked.block = block;
    Candidate found = {block, estimate_block(network_, engine_, options_, volume_, asked)};
    found.cost.memory_bytes += pipeline_bytes(found.cost.input_voxels, channels_ * voxels(block));
    return found;
  }

 private:
  // The one of three directions with the least work per voxel.
  std::optional<Candidate> larger(const Candidate& from) const {
    std::optional<Candidate> best;
    for (size_t axis = 0; axis < strides_.size(); ++axis) {
      const auto grown = grow(from.block, axis);
      if (!grown || !is_allowed(*grown)) continue;
      Candidate next = candidate(*grown);
      if (next.cost.memory_bytes > limits_.memory_bytes) continue;
      if (!best || next.flop_per_voxel() < best->flop_per_voxel()) best = next;
    }
    return best;
  }

  // Nothing where the block reaches to the end of the volume already.
  std::optional<Point> grow(Point block, size_t axis) const {
    const int64_t stride = strides_[axis];
    const int64_t most = (volume_[axis] + stride - 1) / stride;
    const int64_t now = block[axis] / stride;
    const int64_t next =
        std::min(most, std::max(now + 1, static_cast<int64_t>(kGrowth * static_cast<double>(now))));
    if (next <= now) return {};
    block[axis] = next * stride;
    return block;
  }

  bool is_allowed(const Point& block) const {
    return voxels(block) <= kMostVoxels && Tiling{volume_, block}.count() >= limits_.blocks;
  }

  const Graph& network_;
  const Engine& engine_;
  const CompileOptions& options_;
  Point volume_, strides_ = {};
  int64_t channels_ = 1;
  BlockOptions asked_;
  BlockLimits limits_;
};

// Of the network alone, without any halo.
double ideal_flop_per_voxel(const Graph& network) {
  return static_cast<double>(cost_of(network).flop) /
         static_cast<double>(elements(spatial(network.shape(network.inputs[0]))));
}

// Those worth measuring, the most promising first.
std::vector<Candidate> promising(std::vector<Candidate> steps, double work) {
  std::ranges::stable_sort(steps, {}, &Candidate::flop_per_voxel);
  const double best = steps[0].flop_per_voxel();
  std::vector<Candidate> list;
  for (const Candidate& step : steps) {
    const bool much_smaller = list.empty() || 2 * voxels(step.block) <= voxels(list.back().block);
    const bool quick = step.cost.flop < kMeasuringShare * work;
    if (list.empty() || (much_smaller && quick && best > kWorthMeasuring * step.flop_per_voxel()))
      list.push_back(step);
    if (list.size() == kMeasured) break;
  }
  return list;
}

// Voxels that the network gives in a second, from the second run of a block of noise.
double measure(const Graph& network, const Weights& weights, const Engine& engine,
               const CompileOptions& options, const Point& volume, BlockOptions asked, const Point& block) {
  asked.block = block;
  BlockRunner runner(network, weights, engine, options, volume, asked);
  const Box box = Tiling{volume, block}.box(0);
  std::vector<float> input(static_cast<size_t>(voxels(runner.input_box(box))));
  std::vector<float> result(static_cast<size_t>(runner.channels() * voxels(box)));
  Random(0).fill_uniform(input, 0, 1);
  runner.run(box, input, result);
  const double begin = now_ms();
  runner.run(box, input, result);
  return static_cast<double>(voxels(box)) / (now_ms() - begin) * 1e3;
}

std::string describe(const Candidate& chosen, double network_flop_per_voxel, const BlockLimits& limits) {
  return fmt::format("block {}: its halo makes {:.2f} times the work, and it holds {} of {} that may be used",
                     to_string(chosen.block), chosen.flop_per_voxel() / network_flop_per_voxel,
                     format_bytes(chosen.cost.memory_bytes), format_bytes(limits.memory_bytes));
}

}  // namespace

BlockChoice choose_block(const Graph& network, const Weights& weights, const Engine& engine,
                         const CompileOptions& options, const Point& volume, const BlockOptions& asked,
                         const BlockLimits& limits) {
  const Growth growth(network, engine, options, volume, asked, limits);
  const std::vector<Candidate> steps = growth.steps();
  const double ideal = ideal_flop_per_voxel(network);
  const double work = ideal * static_cast<double>(voxels(volume));
  const std::vector<Candidate> list = promising(steps, work);
  if (list.size() == 1) return {list[0].block, describe(list[0], ideal, limits)};

  std::vector<double> speeds;
  for (const Candidate& candidate : list) {
    speeds.push_back(measure(network, weights, engine, options, volume, asked, candidate.block));
  }
  const auto best = static_cast<size_t>(std::ranges::max_element(speeds) - speeds.begin());
  std::string reason = describe(list[best], ideal, limits) + "; measured";
  for (size_t i = 0; i < list.size(); ++i) {
    reason += fmt::format("{} {:.2f} Mvox/s{}", i == 0 ? "" : ",", speeds[i] / 1e6,
                          i == best ? "" : fmt::format(" with {}", to_string(list[i].block)));
  }
  return {list[best].block, reason};
}

}  // namespace tacho
