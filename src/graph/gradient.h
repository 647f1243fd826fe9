#pragma once

#include "graph/graph.h"

namespace tacho {

enum class Loss { softmax_cross_entropy, dice };

struct GradientOptions {
  bool of_input = false;       // also compute the gradient of the image: it becomes the last output
  double label_smoothing = 0;  // of softmax_cross_entropy
};

// The training graph of an inference graph: its nodes in training mode, the loss of its output, and the
// backward ops. Adds the input "labels" (cross-entropy) or "target" (Dice); outputs become prediction, loss,
// [image gradient].
Graph gradient(const Graph& forward, Loss loss, const GradientOptions& options = {});

}  // namespace tacho
