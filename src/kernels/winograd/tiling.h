#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/blocked/layout.h"
#include "kernels/winograd/points.h"
#include "kernels/winograd/winograd.h"

namespace tacho::winograd {

using blocked::ActivationLayout;
using blocked::kLineFloats;

inline constexpr int64_t kBlockTiles = blocked::kRowsAtOnce;  // tiles the matrix kernel multiplies at once

// The first output of a tile.
struct Tile {
  int32_t image, depth, row, column;
};

constexpr const Scheme& scheme(const Convolution& convolution, int axis) {
  return scheme_of(convolution.kernel[axis]);
}

// Consecutive tiles that are transformed alike: each has at most this many rows and columns of outputs.
struct TileBlock {
  std::array<Tile, kBlockTiles> tiles{};
  int count = 0;
  int rows = 0, columns = 0;
};

// Tiles of all images, ordered by their kind: whole ones, those cut at the right, at the bottom, at both. So
// nearly all blocks hold tiles of one kind, and cut tiles skip the points that they do not need.
class Tiling {
 public:
  static constexpr int kKinds = 4;  // bit 0: the last column's tiles, bit 1: the last row's

  explicit Tiling(const Convolution& convolution);

  int64_t tiles() const { return first_[kKinds]; }
  int64_t first_of_kind(int kind) const { return first_[kind]; }
  bool needs(int kind, int row_point, int column_point) const {
    return needs(rows(kind), columns(kind), row_point, column_point);
  }
  bool needs(const TileBlock& block, int row_point, int column_point) const {
    return needs(block.rows, block.columns, row_point, column_point);
  }
  int64_t blocks() const { return divide_up(tiles(), kBlockTiles); }
  TileBlock block(int64_t index) const;

  // Tiles [begin, end) of all, at most 6.
  TileBlock block(int64_t begin, int64_t end) const;

 private:
  struct Grid {
    int64_t row, column, rows, columns;  // in tiles
  };
  Grid grid(int kind) const;
  Tile tile(int kind, int64_t index) const;
  int rows(int kind) const { return kind & 2 ? cut_rows_ : along_[1]->tile; }
  int columns(int kind) const { return kind & 1 ? cut_columns_ : along_[2]->tile; }
  bool needs(int rows, int columns, int row_point, int column_point) const {
    return row_point < along_[1]->points_for(rows) && column_point < along_[2]->points_for(columns);
  }

  std::array<const Scheme*, 3> along_;
  std::array<int64_t, 3> tiles_;  // along depth, rows, columns
  int64_t batch_;
  int cut_rows_, cut_columns_;  // outputs that the last row's and column's tiles compute
  std::array<int64_t, kKinds + 1> first_{};
};

}  // namespace tacho::winograd
