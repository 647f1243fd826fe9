#pragma once

#include <algorithm>

#include "kernels/split.h"

namespace tacho::blocked {

// How a sweep over planes, one for each image and block of channels, is cut into items that threads share:
// few planes into parts. That depends on nothing but the shape, and so do sums over parts.
struct PlaneParts {
  // `pieces_of_plane`: cells or rows of a plane, at least `fewest` of them in a part.
  constexpr PlaneParts(int64_t all_planes, int64_t pieces_of_plane, int64_t fewest)
      : planes(all_planes),
        pieces(pieces_of_plane),
        part_pieces(
            divide_up(pieces, std::clamp<int64_t>(pieces / fewest, 1, divide_up(kEnoughItems, planes)))),
        parts(divide_up(pieces, part_pieces)) {}

  static constexpr int64_t kEnoughItems = 256;  // four for each of 64 threads

  constexpr int64_t items() const { return planes * parts; }
  constexpr int64_t plane(int64_t item) const { return item / parts; }
  constexpr int64_t begin(int64_t item) const { return item % parts * part_pieces; }
  constexpr int64_t end(int64_t item) const { return std::min(begin(item) + part_pieces, pieces); }

  int64_t planes, pieces;
  int64_t part_pieces, parts;  // of a plane
};

// `work` of each piece.
Loop loop_over(const PlaneParts& parts, double work = 1);

}  // namespace tacho::blocked
