#pragma once

#include <memory>

#include "data/batch_source.h"
#include "results/epoch.h"
#include "train/evaluator.h"
#include "train/recipe.h"

namespace tacho {

// What networks learn from and are judged by: one for every kind of data.
class TrainingData {
 public:
  virtual ~TrainingData() = default;

  // Throws UserError where the recipe's network or sizes do not fit it.
  virtual void check(const Recipe& recipe) const = 0;
  // Images after which the network is judged.
  virtual int64_t epoch_images(const Recipe& recipe) const = 0;
  // The stream of training, of which a rank takes its share.
  virtual std::unique_ptr<BatchSource> batches(const Recipe& recipe, const BatchShare& share) const = 0;
  // Adds to the epoch how good the network is after it. False where it was stopped.
  virtual bool evaluate(const Recipe& recipe, Evaluator& network, Epoch& epoch) const = 0;
  // What the user should know about it; empty where there is nothing.
  virtual std::string note() const { return {}; }
};

}  // namespace tacho
