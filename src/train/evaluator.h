#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/batch_source.h"
#include "distributed/communicator.h"
#include "engine/engine.h"

namespace tacho {

// A network with fixed weights and running statistics, on all ranks at once.
class Evaluator {
 public:
  struct Options {
    int loader_threads = 1;
    std::function<bool()> should_stop = {};
  };
  // `network` and `ranks` must outlive this.
  Evaluator(const Graph& network, std::unique_ptr<Plan> plan, Communicator& ranks, Options options);

  // Of the batches that this rank takes; their size is the network's.
  BatchShare share() const;

  // Runs the network over the first `images` of a stream, of which `source` gives this rank's share, and
  // shows what it predicts. False where any rank should stop.
  struct Prediction {
    const Batch& batch;
    const Tensor& output;
    int64_t images;  // the first of the batch; what follows was counted already
  };
  bool run(std::unique_ptr<const BatchSource> source, int64_t images,
           const std::function<void(const Prediction&)>& see);

  // Over the ranks, each number by itself.
  std::vector<double> sum(std::span<const double> own) const;

  int64_t memory_bytes() const { return plan_->memory_bytes(); }

 private:
  const Graph& graph_;
  std::unique_ptr<Plan> plan_;
  Communicator& ranks_;
  Options options_;
};

}  // namespace tacho
