#include "kernels/winograd/tiling.h"

namespace tacho::winograd {

Tiling::Tiling(const Convolution& convolution)
    : along_{&scheme(convolution, 0), &scheme(convolution, 1), &scheme(convolution, 2)},
      batch_(convolution.batch) {
  const auto extents = dst_extents(convolution);
  for (int axis = 0; axis < 3; ++axis) tiles_[axis] = divide_up(extents[axis], along_[axis]->tile);
  const auto cut = [&](int axis) {
    const auto left = static_cast<int>(extents[axis] - (tiles_[axis] - 1) * along_[axis]->tile);
    return std::max(along_[axis]->min_tile, left);
  };
  cut_rows_ = cut(1);
  cut_columns_ = cut(2);
  for (int kind = 0; kind < kKinds; ++kind) {
    const Grid part = grid(kind);
    first_[kind + 1] = first_[kind] + batch_ * tiles_[0] * part.rows * part.columns;
  }
}

Tiling::Grid Tiling::grid(int kind) const {
  const int64_t whole_rows = tiles_[1] - (cut_rows_ < along_[1]->tile),
                whole_columns = tiles_[2] - (cut_columns_ < along_[2]->tile);
  const bool right = kind & 1, bottom = kind & 2;
  return {bottom ? whole_rows : 0, right ? whole_columns : 0, bottom ? tiles_[1] - whole_rows : whole_rows,
          right ? tiles_[2] - whole_columns : whole_columns};
}

Tile Tiling::tile(int kind, int64_t index) const {
  const Grid part = grid(kind);
  const int64_t column = index % part.columns, rows = index / part.columns;
  const int64_t row = rows % part.rows, slices = rows / part.rows;
  const auto first_output = [&](int axis, int64_t tile) {
    return static_cast<int32_t>(tile * along_[axis]->tile);
  };
  return {static_cast<int32_t>(slices / tiles_[0]), first_output(0, slices % tiles_[0]),
          first_output(1, part.row + row), first_output(2, part.column + column)};
}

TileBlock Tiling::block(int64_t index) const {
  return block(index * kBlockTiles, std::min((index + 1) * kBlockTiles, tiles()));
}

TileBlock Tiling::block(int64_t begin, int64_t end) const {
  TileBlock block;
  int kind = 0;
  for (int64_t i = begin; i < end; ++i) {
    while (i >= first_[kind + 1]) ++kind;
    block.tiles[block.count++] = tile(kind, i - first_[kind]);
    block.rows = std::max(block.rows, rows(kind));
    block.columns = std::max(block.columns, columns(kind));
  }
  return block;
}

}  // namespace tacho::winograd
