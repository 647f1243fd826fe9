#pragma once

#include "predict/block_network.h"
#include "predict/block_runner.h"
#include "predict/tiling.h"

namespace tacho {

// A stage and the tiles by which it is computed. They begin at multiples of the period, so that one compiled
// graph serves all.
struct PlannedStage {
  Stage stage;
  Point counts = {};               // of tiles, where the region is largest
  Point period = {};               // of its result, in cells of its result
  Point tile = {};                 // wanted of each: a multiple of the period
  std::array<bool, 3> whole = {};  // axes of which a tile holds all that the network has
  int lanes = 1;                   // tiles at a time, each on a thread of its own; 1: one on all threads
  TileNetwork network = {};        // of the tile at the origin

  // How far a value's cells are moved in a tile that begins at `origin`.
  Point shift(const Point& origin, const Point& result_cell, const Point& cell) const;
};

// What one of a stage's lanes is compiled with.
CompileOptions options_of_lane(const PlannedStage& stage, CompileOptions options);

// Everything about blocks that is decided before anything is compiled.
class BlockPlan {
 public:
  // `side_by_side`: threads may compute tiles of their own.
  BlockPlan(const Graph& network, const Point& volume, const BlockOptions& options, int threads,
            bool side_by_side);

  // By value of the network: what a box of the volume needs of it. In the network's own positions, which are
  // the volume's, or begin at the halo.
  using Regions = std::vector<Box>;
  Regions regions(const Box& output) const;
  // Where the network's own positions begin in the volume, for this box.
  Point origin(const Box& output) const;

  const Graph& network() const { return network_; }
  const Point& cell(ValueId id) const { return cells_[static_cast<size_t>(id)]; }
  const std::vector<PlannedStage>& stages() const { return stages_; }
  // The largest region of a value that any block of the tiling needs.
  const Point& largest(ValueId id) const { return largest_[static_cast<size_t>(id)]; }
  int64_t channels(ValueId id) const { return network_.shape(id)[1]; }
  ValueId input() const { return network_.inputs[0]; }
  ValueId output() const { return network_.outputs[0]; }

  // `options` have the threads of the plan.
  BlockCost cost(const Engine& engine, const CompileOptions& options) const;
  // Of the values that stages hand on, and of what goes in and out of their plans.
  int64_t buffer_bytes() const;

 private:
  void find_largest(const Point& volume);
  void choose_tiles(int64_t allowed_bytes);
  void use_caches(int threads);
  Point period(const Stage& stage) const;
  int64_t planned_tile(const Stage& stage, const Point& counts, size_t axis) const;
  bool is_whole(const Stage& stage, const Point& counts, size_t axis) const;
  PlannedStage planned(const Stage& stage, const Point& counts) const;
  std::optional<PlannedStage> split(const PlannedStage& stage) const;
  std::optional<PlannedStage> cached(const PlannedStage& stage, int threads) const;
  double flop(const PlannedStage& stage) const;
  Point tile_counts(const PlannedStage& stage) const;

  BlockOptions options_;
  bool bounded_ = false;
  Graph network_;  // of the extents that bound it
  std::vector<Point> cells_, largest_;
  std::vector<PlannedStage> stages_;
};

}  // namespace tacho
