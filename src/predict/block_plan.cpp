#include "predict/block_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/memory_estimate.h"
#include "engine/saturating.h"
#include "graph/cost.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, kAxes> kAxisNames = {"depth", "height", "width"};

int64_t rounded_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

Point rounded_up(Point value, const Point& multiple) {
  for (size_t axis = 0; axis < kAxes; ++axis) value[axis] = rounded_up(value[axis], multiple[axis]);
  return value;
}

void check(const Graph& network, const BlockOptions& block) {
  const Shape& input = network.shape(network.inputs[0]);
  if (input.size() != 2 + kAxes || input[1] != 1)
    throw UserError("{} cannot be run on a volume: its input is {}, not one channel of three axes",
                    network.name, to_string(input));
  for (size_t axis = 0; axis < kAxes; ++axis) {
    if (block.block[axis] < 1)
      throw UserError("a block of {}: its {} must be 1 or more", to_string(block.block), kAxisNames[axis]);
    if (block.halo && (*block.halo)[axis] < 0)
      throw UserError("a halo of {}: its {} must be 0 or more", to_string(*block.halo), kAxisNames[axis]);
  }
}

// What the network runs on where a halo is given.
Point with_halo(const Graph& network, const Point& multiple, const BlockOptions& block) {
  Point image;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const int64_t halo = (*block.halo)[axis], step = multiple[axis];
    image[axis] = block.block[axis] + 2 * halo;
    if (image[axis] % step == 0) continue;
    const int64_t above = rounded_up(image[axis], step) - 2 * halo, below = above - step;
    const std::string nearest = below > 0 ? fmt::format("nearest blocks: {} and {}", below, above)
                                          : fmt::format("nearest block: {}", above);
    throw UserError(
        "{} cannot run on a {} of {} (block {} and twice the halo {}): it must be a multiple of {} ({})",
        network.name, kAxisNames[axis], image[axis], block.block[axis], halo, step, nearest);
  }
  return image;
}

// A tile whose values stay in a core's caches is computed faster than a large one: unet3d_lite 1.3 times
// where no tile has more than 2 MiB, in spite of the edges that neighbours both compute.
constexpr int64_t kCachedBytes = int64_t{2} << 20;
constexpr int64_t kCachedWeightBytes = kCachedBytes / 8;  // Winograd's packed ones take up to 8 times as much
constexpr double kMostWork = 1.1;                         // of small tiles, by that of the large ones
constexpr int64_t kTilesPerThread = 4;  // at least, so that no thread waits long for the last

int64_t weight_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const ValueId id : graph.weights()) bytes += saturating_bytes(graph.shape(id), DType::f32);
  return bytes;
}

int64_t activation_bytes(const Graph& graph) {
  return estimate_arena_plan_bytes(graph, Sgd{}) - weight_bytes(graph);
}

int64_t float_bytes(int64_t count) { return count * static_cast<int64_t>(sizeof(float)); }

}  // namespace

Point PlannedStage::shift(const Point& origin, const Point& result_cell, const Point& cell) const {
  Point moved;
  for (size_t axis = 0; axis < kAxes; ++axis) moved[axis] = origin[axis] * result_cell[axis] / cell[axis];
  return moved;
}

BlockPlan::BlockPlan(const Graph& network, const Engine& engine, const CompileOptions& options,
                     const Point& volume, const BlockOptions& block)
    : engine_(&engine),
      options_(options),
      block_(block),
      bounded_(block.halo || block.border == Border::network),
      cells_(cell_sizes(network)) {
  check(network, block);
  Point multiple = period_of(network, {0, network.nodes.size(), network.outputs[0]}, cells_);
  for (size_t axis = 0; axis < kAxes; ++axis) multiple[axis] /= cell(network.inputs[0])[axis];
  network_ =
      resized(network, block.halo ? with_halo(network, multiple, block) : rounded_up(volume, multiple));
  if (cell(output()) != cell(input()))
    throw UserError("{} cannot be run in blocks: its output has other voxels than its input", network.name);
  find_largest(volume);
  choose_tiles(block.activation_bytes);
  if (may_use_caches()) use_caches();
}

Point BlockPlan::origin(const Box& output) const {
  Point begin = {};
  if (!block_.halo) return begin;
  for (size_t axis = 0; axis < kAxes; ++axis) begin[axis] = output.begin[axis] - (*block_.halo)[axis];
  return begin;
}

BlockPlan::Regions BlockPlan::regions(const Box& output) const {
  Regions regions(network_.values.size());
  const Point begin = origin(output);
  const NodeRange all{0, network_.nodes.size(), network_.outputs[0]};
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const Interval wanted{output.begin[axis] - begin[axis], output.end[axis] - begin[axis] - 1};
    const auto required = required_values(network_, all, static_cast<int>(axis), wanted, bounded_);
    if (!required)
      throw UserError("{} cannot be run in blocks: a layer of it looks at the whole image", network_.name);
    for (size_t id = 0; id < regions.size(); ++id) {
      const Interval along = (*required)[id].value_or(Interval{0, -1});
      regions[id].begin[axis] = along.first;
      regions[id].end[axis] = along.last + 1;
    }
  }
  return regions;
}

// Axes are independent of each other: a diagonal of blocks shows all that there are.
void BlockPlan::find_largest(const Point& volume) {
  largest_.assign(network_.values.size(), Point{});
  const Tiling tiling{volume, block_.block};
  const Point counts = tiling.counts();
  for (int64_t i = 0; i < *std::ranges::max_element(counts); ++i) {
    Box box;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      box.begin[axis] = std::min(i, counts[axis] - 1) * block_.block[axis];
      box.end[axis] = std::min(box.begin[axis] + block_.block[axis], volume[axis]);
    }
    const Regions needed = regions(box);
    for (size_t id = 0; id < needed.size(); ++id)
      for (size_t axis = 0; axis < kAxes; ++axis)
        largest_[id][axis] = std::max(largest_[id][axis], needed[id].size()[axis]);
  }
}

Point BlockPlan::period(const Stage& stage) const {
  Point period = period_of(network_, stage.nodes, cells_);
  for (size_t axis = 0; axis < kAxes; ++axis) period[axis] /= cell(stage.nodes.output)[axis];
  return period;
}

int64_t BlockPlan::planned_tile(const Stage& stage, const Point& counts, size_t axis) const {
  if (is_whole(stage, counts, axis)) return largest(stage.nodes.output)[axis];
  // A region may begin up to a period behind its first tile.
  const int64_t step = period(stage)[axis], covered = largest(stage.nodes.output)[axis] + step - 1;
  return rounded_up((covered + counts[axis] - 1) / counts[axis], step);
}

// Whether one tile holds all of the network's extent along an axis: then its own padding serves.
bool BlockPlan::is_whole(const Stage& stage, const Point& counts, size_t axis) const {
  return bounded_ && counts[axis] == 1 &&
         largest(stage.nodes.output)[axis] == network_.shape(stage.nodes.output)[axis + 2];
}

PlannedStage BlockPlan::planned(const Stage& stage, const Point& counts) const {
  PlannedStage result{.stage = stage, .counts = counts, .period = period(stage)};
  for (size_t axis = 0; axis < kAxes; ++axis) {
    result.tile[axis] = planned_tile(stage, counts, axis);
    result.whole[axis] = is_whole(stage, counts, axis);
  }
  result.network =
      tile_network(network_, stage, whole(result.tile), {.fenced = bounded_, .padded = result.whole});
  return result;
}

double BlockPlan::flop(const PlannedStage& stage) const {
  return static_cast<double>(voxels(tile_counts(stage))) *
         static_cast<double>(cost_of(stage.network.graph).flop);
}

// The same stage in more tiles, split where the tile is longest; nothing where it cannot be split.
std::optional<PlannedStage> BlockPlan::split(const PlannedStage& stage) const {
  size_t longest = kAxes;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const bool divides = stage.tile[axis] > stage.period[axis];
    if (divides && (longest == kAxes || stage.tile[axis] > stage.tile[longest])) longest = axis;
  }
  if (longest == kAxes) return {};
  Point counts = stage.counts;
  while (planned_tile(stage.stage, counts, longest) == stage.tile[longest]) ++counts[longest];
  return planned(stage.stage, counts);
}

// Splits, again and again, the stage in which the memory that is saved costs the least work.
void BlockPlan::choose_tiles(int64_t allowed_bytes) {
  std::vector<std::optional<PlannedStage>> next;
  int64_t bytes = 0;
  for (const Stage& part : split_into_stages(network_)) {
    stages_.push_back(planned(part, {1, 1, 1}));
    next.push_back(split(stages_.back()));
    bytes += activation_bytes(stages_.back().network.graph);
  }
  while (bytes > allowed_bytes) {
    size_t best = stages_.size();
    double best_price = std::numeric_limits<double>::infinity();
    int64_t best_saving = 0;
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (!next[i]) continue;
      const int64_t saving =
          activation_bytes(stages_[i].network.graph) - activation_bytes(next[i]->network.graph);
      const double price = std::max(0.0, flop(*next[i]) - flop(stages_[i])) /
                           static_cast<double>(std::max<int64_t>(saving, 1));
      if (best < stages_.size() && price >= best_price) continue;
      best = i;
      best_price = price;
      best_saving = saving;
    }
    if (best == stages_.size()) return;
    bytes -= best_saving;
    stages_[best] = *std::move(next[best]);
    next[best] = split(stages_[best]);
  }
}

// Where weights are larger than the caches, small tiles would read all of them again and again.
std::optional<PlannedStage> BlockPlan::cached(const PlannedStage& stage) const {
  if (weight_bytes(stage.network.graph) > kCachedWeightBytes) return {};
  PlannedStage tiles = stage;
  while (activation_bytes(tiles.network.graph) > kCachedBytes) {
    std::optional<PlannedStage> smaller = split(tiles);
    if (!smaller || flop(*smaller) > kMostWork * flop(stage)) break;
    tiles = *std::move(smaller);
  }
  const int threads = options_.threads;
  tiles.tiles_at_once = threads;
  const int64_t held = threads * activation_bytes(tiles.network.graph),
                allowed = std::max(activation_bytes(stage.network.graph), threads * kCachedBytes);
  if (threads > 1 && (voxels(tile_counts(tiles)) < kTilesPerThread * threads || held > allowed)) return {};
  return tiles;
}

// Threads that share small tiles would wait for each other too often; a GPU has other caches.
bool BlockPlan::may_use_caches() const {
  return options_.device == kCpu && (options_.threads == 1 || engine_->computes_side_by_side());
}

void BlockPlan::use_caches() {
  for (PlannedStage& stage : stages_) {
    if (std::optional<PlannedStage> tiles = cached(stage)) stage = *std::move(tiles);
  }
}

Point BlockPlan::tile_counts(const PlannedStage& stage) const {
  Point counts;
  for (size_t axis = 0; axis < kAxes; ++axis)
    counts[axis] = rounded_up(largest(stage.stage.nodes.output)[axis], stage.tile[axis]) / stage.tile[axis];
  return counts;
}

int64_t BlockPlan::buffer_bytes() const {
  int64_t floats = 0;
  for (const PlannedStage& stage : stages_) {
    const ValueId result = stage.stage.nodes.output;
    if (result != output()) floats += channels(result) * voxels(largest(result));
    int64_t tile = elements(stage.network.graph.shape(stage.network.graph.outputs[0]));
    for (size_t i = 0; i < stage.network.inputs.size(); ++i)
      tile += elements(stage.network.graph.shape(stage.network.graph.inputs[i]));
    floats += stage.tiles_at_once * tile;
  }
  return float_bytes(floats);
}

CompileOptions BlockPlan::options_of(const PlannedStage& stage) const {
  CompileOptions options = options_;
  if (stage.tiles_at_once > 1) options.threads = 1;
  return options;
}

BlockCost BlockPlan::cost() const {
  BlockCost cost;
  cost.memory_bytes = buffer_bytes();
  cost.input_voxels = voxels(largest(input()));
  for (const PlannedStage& stage : stages_) {
    const int64_t of_tile = engine_->estimate_memory_bytes(stage.network.graph, options_of(stage));
    for (int i = 0; i < stage.tiles_at_once; ++i)
      cost.memory_bytes = saturating_add(cost.memory_bytes, of_tile);
    cost.flop += flop(stage);
  }
  Point box = largest(input()), multiple = period_of(network_, {0, network_.nodes.size(), output()}, cells_);
  for (size_t axis = 0; axis < kAxes; ++axis) multiple[axis] /= cell(input())[axis];
  cost.whole_flop = static_cast<double>(cost_of(resized(network_, rounded_up(box, multiple))).flop);
  return cost;
}

}  // namespace tacho
