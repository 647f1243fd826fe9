#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "distributed/communicator.h"
#include "engine/engine.h"
#include "graph/graph.h"

// What must be the same on every rank before gradients can be exchanged.
namespace tacho {

// Rank 0's weights for all; what the others have is replaced.
void broadcast_weights(Communicator& ranks, const Graph& graph, Weights& weights);

// All that rank 0's plan remembers for all: weights, the optimizer's `states_per_parameter` arrays, counters.
void broadcast_state(Communicator& ranks, const Graph& graph, int states_per_parameter, Plan& plan);

// Which kernels compute a plan: other ones round otherwise and may lay gradients out otherwise.
std::string kernels_of(const Plan& plan);

// Throws std::runtime_error on every rank where plans have other kernels or other gradients than rank 0's.
void require_equal_plans(Communicator& ranks, Plan& plan);

// The same where parameters are not equal bit by bit.
void require_equal_parameters(Communicator& ranks, const Plan& plan, const Graph& graph);

// A file of rank 0 for all ranks: the others get a copy, which is gone with the object. What rank 0 does not
// have, nobody has. Every copy has a path of its own: an engine remembers by path what it read.
class SharedFile {
 public:
  // All ranks at once.
  SharedFile(Communicator& ranks, std::filesystem::path own);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_copy_ = false;
};

// Sums over all ranks, by messages of its own.
std::unique_ptr<SumOverDevices> sum_over(Communicator& ranks);

}  // namespace tacho
