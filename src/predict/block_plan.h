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
  int tiles_at_once = 1;           // each on a thread of its own; 1: one on all threads
  TileNetwork network = {};        // of the tile at the origin

  // How far a value's cells are moved in a tile that begins at `origin`.
  Point shift(const Point& origin, const Point& result_cell, const Point& cell) const;
};

// How blocks are cut into tiles: whatever gives other tiles for the same options makes a new version, since
// other tiles may round otherwise.
inline constexpr int kTilingVersion = 2;

// Everything about blocks that is decided before anything is compiled.
class BlockPlan {
 public:
  // As estimate_block(). `engine` must outlive it.
  BlockPlan(const Graph& network, const Engine& engine, const CompileOptions& options, const Point& volume,
            const BlockOptions& block);

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

  BlockCost cost() const;
  // What computes one of a stage's tiles is compiled with.
  CompileOptions options_of(const PlannedStage& stage) const;
  // Of the values that stages hand on, and of what goes in and out of their plans.
  int64_t buffer_bytes() const;

 private:
  void find_largest(const Point& volume);
  void choose_tiles(int64_t allowed_bytes);
  bool may_use_caches() const;
  void use_caches();
  Point period(const Stage& stage) const;
  int64_t planned_tile(const Stage& stage, const Point& counts, size_t axis) const;
  bool is_whole(const Stage& stage, const Point& counts, size_t axis) const;
  PlannedStage planned(const Stage& stage, const Point& counts) const;
  std::optional<PlannedStage> split(const PlannedStage& stage) const;
  std::optional<PlannedStage> cached(const PlannedStage& stage) const;
  double flop(const PlannedStage& stage) const;
  Point tile_counts(const PlannedStage& stage) const;

  const Engine* engine_;
  CompileOptions options_;
  BlockOptions block_;
  bool bounded_ = false;
  Graph network_;  // of the extents that bound it
  std::vector<Point> cells_, largest_;
  std::vector<PlannedStage> stages_;
};

}  // namespace tacho
