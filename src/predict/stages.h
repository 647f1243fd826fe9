#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/receptive_field.h"
#include "volume/box.h"

namespace tacho {

// A copy of a three-dimensional inference graph for an image of other extents.
Graph resized(const Graph& network, const Point& image);

// By value, how many of the finest cells of the network one of its cells spans along each axis.
std::vector<Point> cell_sizes(const Graph& network);

// Results of the nodes repeat, along each axis, when what they read is moved by a whole period: here in the
// finest cells.
Point period_of(const Graph& network, const NodeRange& range, const std::vector<Point>& cells);

// A part of a network that is computed on its own: it reads `inputs` and gives one value.
struct Stage {
  NodeRange nodes;
  std::vector<ValueId> inputs;
};

// The network cut where the resolution changes, after each pooling and before each upsampling; parts with
// several results are not cut off.
std::vector<Stage> split_into_stages(const Graph& network);

}  // namespace tacho
