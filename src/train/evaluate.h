#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "data/data_set.h"
#include "engine/engine.h"
#include "train/recipe.h"

namespace tacho {

struct Evaluation {
  double accuracy = 0, loss = 0;  // top-1; mean cross-entropy, without smoothing
};

// A network with fixed weights and running statistics.
class Evaluator {
 public:
  // `network` must outlive this.
  Evaluator(const Recipe& recipe, const Graph& network, const Engine& engine, Weights weights,
            const std::filesystem::path& kernel_cache);

  // Over every image of the set once; nothing where it should stop.
  std::optional<Evaluation> run(const ImageSet& set, const Normalization& normalization, int loader_threads,
                                const std::function<bool()>& should_stop);
  int64_t memory_bytes() const { return plan_->memory_bytes(); }

 private:
  Recipe recipe_;
  const Graph& graph_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tacho
