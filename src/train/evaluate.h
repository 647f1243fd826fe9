#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "data/data_set.h"
#include "distributed/communicator.h"
#include "engine/engine.h"
#include "train/recipe.h"

namespace tacho {

struct Evaluation {
  double accuracy = 0, loss = 0;  // top-1; mean cross-entropy, without smoothing
};

// A network with fixed weights and running statistics.
class Evaluator {
 public:
  // On all `ranks` at once, with equal weights; `network` and `ranks` must outlive this.
  Evaluator(const Recipe& recipe, const Graph& network, const Engine& engine, Weights weights,
            const std::filesystem::path& kernel_cache, Communicator& ranks);

  // Over every image of the set once, of which each rank takes its part; nothing where any should stop.
  std::optional<Evaluation> run(const ImageSet& set, const Normalization& normalization, int loader_threads,
                                const std::function<bool()>& should_stop);
  int64_t memory_bytes() const { return plan_->memory_bytes(); }

 private:
  double sum(double own) const;  // over the ranks

  Recipe recipe_;
  Communicator& ranks_;
  const Graph& graph_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tacho
