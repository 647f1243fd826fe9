#include "train/volume_training.h"

#include <gmock/gmock.h>

#include "base/test_folder.h"
#include "data/test_volume.h"
#include "models/initialize.h"
#include "train/test_weights.h"
#include "train/trainer.h"

namespace tacho {
namespace {

Recipe volume_recipe() {
  return {.model = "unet3d_lite",
          .data = "cremi:test",
          .execution = {.engine = "native"},
          .batch = 1,
          .image = {4, 16, 16},
          .classes = 0,
          .steps = 8,
          .update = kVolumeAdam,
          .schedule = ScheduleKind::constant,
          .augmentation = "flip,rotate,elastic",
          .seed = 4};
}

std::unique_ptr<LabelledVolume> boxes(const Point& shape) {
  return std::unique_ptr<LabelledVolume>(new LabelledVolume(boxes_volume(shape)));
}

VolumeTraining volume_data(const Recipe& recipe) { return {boxes({12, 24, 24}), recipe.image, 3}; }

TrainResult run_on_volume(const Recipe& recipe, const TrainControl& control = {},
                          const TrainHooks& hooks = {}) {
  const TrainingGraphs graphs = build_graphs(recipe);
  return train(recipe, graphs, volume_data(recipe), initialize(graphs.network, recipe.seed), control, hooks);
}

TEST(VolumeTraining, IsJudgedAfterEveryEpochAndInTheEnd) {
  const TrainResult result = run_on_volume(volume_recipe());
  ASSERT_EQ(result.state.epochs.size(), 3u);
  EXPECT_EQ(result.state.epochs[1].steps, 3);
  EXPECT_EQ(result.state.epochs[2].steps, 2);
  EXPECT_LT(*result.state.epochs[2].test_loss, 0);
  EXPECT_LT(*result.state.epochs[2].constant_loss, -2);
  EXPECT_FALSE(result.state.epochs[2].test_accuracy);
}

TEST(VolumeTraining, GivesTheSameWeightsWithAnyNumberOfLoaderThreads) {
  expect_same(run_on_volume(volume_recipe()).weights,
              run_on_volume(volume_recipe(), {.loader_threads = 3}).weights);
}

TEST(VolumeTraining, ResumedAtAnyStepEndsInTheSameBits) {
  const TestFolder folder;
  const TrainControl control = {.checkpoints = folder.path() / "checkpoints", .resume = true};
  TrainResult result = {.end = TrainEnd::interrupted};
  int runs = 0;
  for (; result.end == TrainEnd::interrupted; ++runs) {
    int steps = 0;
    result = run_on_volume(
        volume_recipe(), control,
        {.on_step = [&](const StepReport&) { ++steps; }, .should_stop = [&] { return steps == 2; }});
  }
  EXPECT_GT(runs, 2);
  const TrainResult whole = run_on_volume(volume_recipe());
  expect_same(whole.weights, result.weights);
  EXPECT_EQ(whole.state.epochs.back().test_loss, result.state.epochs.back().test_loss);
}

TEST(VolumeTraining, LearnsMoreThanAConstant) {
  Recipe recipe = volume_recipe();
  recipe.steps = 100;
  recipe.targets = VolumeTargets::boundaries;
  recipe.augmentation = "flip";
  recipe.update = Adam{.learning_rate = 1e-3};
  const TrainingGraphs graphs = build_graphs(recipe);
  const VolumeTraining data(boxes({24, 32, 32}), recipe.image, 100);
  const TrainResult result = train(recipe, graphs, data, initialize(graphs.network, recipe.seed), {}, {});
  const Epoch& last = result.state.epochs.back();
  EXPECT_LT(*last.test_loss, *last.constant_loss - 0.2);
}

TEST(LargestWindow, IsWhatTheNetworkTakesAndTheVolumeHasTwiceAlongZ) {
  const Model& model = find_model("unet3d_lite");
  EXPECT_EQ(largest_window(model, model.image, {30, 100, 500}), (Extents{12, 96, 128}));
  EXPECT_EQ(largest_window(model, model.image, {500, 500, 500}), model.image);
  EXPECT_EQ(largest_window(model, model.image, {6, 500, 500}), std::nullopt);
}

}  // namespace
}  // namespace tacho
