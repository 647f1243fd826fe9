#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
#include "data/transform.h"
#include "data/volume_view.h"
#include "engine/execution.h"
#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"
#include "models/zoo.h"
#include "train/schedule.h"

namespace tacho {

// Everything that decides what a training run learns: the same recipe, computed by the same kernels, gives
// the same weights, bit by bit.
struct Recipe {
  std::string model = {}, data = {};
  std::string held_out = {};  // of a volume: which part, in words
  Execution execution = {};
  int64_t batch = 32;  // per device
  Extents image = {};
  int64_t classes = 10;                // 0 of a volume
  std::optional<int64_t> subset = {};  // of each part of the data set at most so many images
  int64_t epochs = 10;
  std::optional<int64_t> steps = {};  // instead of epochs

  UpdateRule update = Adam{};  // with the learning rate that the schedule starts from
  ScheduleKind schedule = ScheduleKind::one_cycle;
  double warmup_epochs = 0;
  double label_smoothing = 0;
  std::optional<double> dropout = {};  // instead of the network's own
  std::string augmentation = "none";
  VolumeTargets targets = VolumeTargets::affinities;  // of volumes
  bool shuffle = true;
  uint64_t seed = 0;
  std::optional<std::filesystem::path> weights = {};  // to start from; random where absent
};

inline int64_t global_batch(const Recipe& recipe) { return recipe.batch * recipe.execution.devices; }

// The data as the user knows it: "cifar10:DIR (320 images)".
std::string describe_data(const Recipe& recipe);

// The learning rates that are known to be good are for this batch over all devices; with another one they are
// scaled.
inline constexpr int64_t kRateBatch = 256;
double scaled_rate(double rate, int64_t global_batch);

// What they do unless asked for otherwise; Adam is the default of the two. For volumes it is kVolumeAdam.
Sgd default_sgd(int64_t global_batch);
Adam default_adam(int64_t global_batch);

double learning_rate_of(const UpdateRule& rule);

// All of it under the names of the record's fields.
Json fields_of(const Recipe& recipe);

// What of it decides the weights: two runs that agree in it can continue each other.
Json identity_of(const Recipe& recipe);

// What is in it beside model, data and sizes, for people: "sgd, lr 0.0125, momentum 0.9, ...".
std::string describe_method(const Recipe& recipe);

// Whether a network learns affinities of volumes rather than labels of images.
inline bool learns_volumes(const Model& model) { return model.loss == Loss::dice; }

// The network for inference with the recipe's image, classes and dropout. Throws UserError where the network
// cannot be trained so.
Graph build_network(const Recipe& recipe);

// The same network for evaluation, and with its loss and backward pass for training.
struct TrainingGraphs {
  Graph network, training;
};
TrainingGraphs build_graphs(const Recipe& recipe);

// How many steps the whole run has for this many training images.
int64_t total_steps(const Recipe& recipe, int64_t images);

}  // namespace tacho
