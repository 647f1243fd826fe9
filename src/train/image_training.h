#pragma once

#include "data/data_set.h"
#include "train/training_data.h"

namespace tacho {

// Images with labels: judged by top-1 accuracy and cross-entropy, without smoothing, on every image of both
// parts.
class ImageTraining final : public TrainingData {
 public:
  explicit ImageTraining(DataSet data) : data_(std::move(data)) {}

  const DataSet& data() const { return data_; }

  void check(const Recipe& recipe) const override;
  int64_t epoch_images(const Recipe& recipe) const override;
  std::unique_ptr<BatchSource> batches(const Recipe& recipe, const BatchShare& share) const override;
  bool evaluate(const Recipe& recipe, Evaluator& network, Epoch& epoch) const override;

 private:
  DataSet data_;
};

// The images that the recipe names, with the recipe's classes filled in where they are 0. Throws UserError
// where they cannot be read or do not fit.
ImageTraining open_training_images(Recipe& recipe);

// The data's own size where the network can take it, otherwise the network's.
Extents default_image(const Recipe& recipe, const DataSet& data);

}  // namespace tacho
