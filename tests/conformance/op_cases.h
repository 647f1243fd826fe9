#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/graph.h"

namespace tacho::conformance {

// One op, or the smallest network that needs it, as an inference graph.
struct OpCase {
  std::string name;  // letters, digits and underscores
  Graph graph;
  Loss loss = Loss::dice;  // Dice takes any tensor, and so serves to drive every backward op
  double label_smoothing = 0;
  // A small step changes which value wins or passes a ReLU: no place for finite differences.
  bool has_kinks = false;

  GradientOptions gradient_options() const { return {.of_input = true, .label_smoothing = label_smoothing}; }
};

inline void PrintTo(const OpCase& of, std::ostream* out) { *out << of.name; }

// Odd sizes on purpose: channels no multiple of a vector, extents no multiple of a stride, 2D and 3D.
std::vector<OpCase> op_cases();

}  // namespace tacho::conformance
