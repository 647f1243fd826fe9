#pragma once

#include "predict/stages.h"

namespace tacho {

// Where, in each pass, the bounds of one of a tile's values must be written.
struct TileFence {
  ValueId bounds;  // an input of the tile's graph
  ValueId value;   // of the network: the bounds are its extents
  Point begin;     // the position of the tile's first cell
};

// A stage as a graph that computes one box of its result and nothing that the box does not need: windows run
// without padding on just the cells they look at. Positions are the network's.
struct TileNetwork {
  Graph graph;              // its first inputs are those of the stage
  std::vector<Box> inputs;  // what it reads of each
  Box output;               // what it gives: at least what was wanted
  std::vector<TileFence> fences;
};

struct TileEdges {
  bool fenced = false;  // what lies outside of the network's own extents is taken for padding
  // Axes along which the box is all of the network's extent, and windows keep their own padding.
  std::array<bool, 3> padded = {};
};

// Throws UserError for layers that look at all of their input.
TileNetwork tile_network(const Graph& network, const Stage& stage, const Box& wanted, const TileEdges& edges);

}  // namespace tacho
