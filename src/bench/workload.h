#pragma once

#include "bench/case.h"
#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

// What a case computes: its graph, of training with the backward pass, and how it updates the parameters.
struct Workload {
  Graph graph;
  UpdateRule update;
};

Workload build_workload(const Case& cell);

// What a process needs to run it: the plan, and beside it weights and inputs as they are handed over.
int64_t memory_need_bytes(const Case& cell, const Workload& workload, bool keep_gradients = false);

}  // namespace tacho
