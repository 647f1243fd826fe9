#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tacho {

// Positions [first, last] along one axis; negative where a window reaches before the origin.
struct Interval {
  int64_t first = 0, last = 0;
  bool operator==(const Interval&) const = default;
};

// Floor of the quotient, also of negative numbers.
int64_t floor_div(int64_t a, int64_t b);

// Nodes [begin, end) of a graph, whose last result is `output`.
struct NodeRange {
  size_t begin = 0, end = 0;
  ValueId output = 0;
};

// By value, the positions along spatial axis `axis` that the outputs in `output` depend on through the nodes
// of the range: in a tensor without edges or, where `bounded`, inside of the graph's own shapes. Nothing
// where the network pools globally.
using RequiredValues = std::vector<std::optional<Interval>>;
std::optional<RequiredValues> required_values(const Graph& graph, const NodeRange& range, int axis,
                                              Interval output, bool bounded);

// The input positions along spatial axis `axis` that the outputs in `output` depend on, in a tensor without
// edges. Nothing where the network pools globally: then every output depends on all of the input.
std::optional<Interval> required_input(const Graph& graph, int axis, Interval output);

// By what the network's strides multiply up along each axis: with that period its dependence repeats.
Extents total_strides(const Graph& graph);

// How far, at most over all output positions, the network looks before and behind a position, per axis.
struct ReceptiveField {
  int64_t before = 0, after = 0;
  int64_t size() const { return before + 1 + after; }
};
std::optional<std::vector<ReceptiveField>> receptive_field(const Graph& graph);

}  // namespace tacho
