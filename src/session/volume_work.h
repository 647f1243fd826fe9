#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "session/bench_items.h"
#include "train/training_data.h"
#include "volume/box.h"

namespace tacho {

// The published block and halo, which is smaller than what the network looks at.
inline constexpr Point kPublishedBlock = {55, 575, 575}, kPublishedHalo = {5, 50, 50};

// What the suite volume runs. As it stands it is the published work: iterations on windows of a sample of
// CREMI, and a prediction of that sample, padded.
struct VolumeWork {
  std::string model = "unet3d";
  int64_t iterations = 1001;
  Point window = {40, 432, 432}, sample = {125, 1250, 1250}, predicted = {200, 3072, 3072};
  bool published_halo = false;
};

// The largest block, up to the published one, with which and its halo the network can run.
Point published_block(const std::string& model);

// `scale` of the published iterations, and sizes of about that share of its voxels, as far as the network
// takes such windows. Throws UserError for a network that is not for volumes.
VolumeWork volume_work(const std::string& model, double scale);

// What of it is smaller than what was published, in words; empty where nothing is.
std::string what_was_shrunk(const VolumeWork& work);

// Where it happens. The volumes are there already, and `folder` is empty.
struct VolumeFiles {
  std::filesystem::path sample, predicted, folder;
};

// The training of `work` on so many devices, as far as its data does not decide it.
Recipe volume_recipe(const VolumeWork& work, const VolumeFiles& files, int devices, int threads);

// Rank 0 writes them before, for a prediction after a training that failed.
void write_first_weights(const Recipe& recipe, const VolumeFiles& files);

// The training, and a prediction with the weights that it comes to. `data` must outlive them.
WorkItems volume_items(const VolumeWork& work, const VolumeFiles& files, const Recipe& recipe,
                       const TrainingData& data);

}  // namespace tacho
