#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "engine/engine.h"

namespace tacho::torch_engine {

// What the ops of a pass need beside their inputs.
struct Pass {
  uint64_t seed = 0, number = 0;              // of dropout
  SumOverDevices* batch_norm_sums = nullptr;  // see CompileOptions
};

// Runs a node of a forward pass: `values` by ValueId. Where `may_overwrite`, its first input is needed by
// nobody else.
void run_forward(const Node& node, std::vector<at::Tensor>& values, const Pass& pass, bool may_overwrite);

}  // namespace tacho::torch_engine
