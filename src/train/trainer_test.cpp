#include "train/trainer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/test_folder.h"
#include "data/source.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "train/image_training.h"
#include "train/test_weights.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Inception's dropout needs 75 pixels; squeezenet has dropout and takes small images.
Recipe small_recipe() {
  return {.model = "squeezenet1_1",
          .data = "synthetic",
          .execution = {.engine = "native"},
          .batch = 6,
          .image = {32, 32},
          .epochs = 2,
          .update = Sgd{.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-4},
          .augmentation = "crop,flip",
          .seed = 4};
}

ImageTraining small_data() {
  return ImageTraining(open_data("synthetic", {.images = 20, .image = {32, 32}, .seed = 4}));
}

TrainResult run(const Recipe& recipe, const TrainControl& control = {}, const TrainHooks& hooks = {}) {
  const TrainingGraphs graphs = build_graphs(recipe);
  return train(recipe, graphs, small_data(), initialize(graphs.network, recipe.seed), control, hooks);
}

// Rounded otherwise in each of seven steps.
void expect_near(const Weights& a, const Weights& b) {
  for (const auto& [name, tensor] : a) {
    const auto of_a = tensor.values<float>(), of_b = b.at(name).values<float>();
    for (size_t i = 0; i < of_a.size(); ++i) ASSERT_NEAR(of_a[i], of_b[i], 1e-4) << name;
  }
}

class Resuming : public testing::TestWithParam<const char*> {
 protected:
  TestFolder folder_;
};

TEST_P(Resuming, AtAnyStepGivesTheWeightsOfAnUninterruptedRun) {
  Recipe recipe = small_recipe();
  if (std::string(GetParam()) == "adam") recipe.update = Adam{.learning_rate = 1e-3};
  const TrainResult whole = run(recipe);
  EXPECT_EQ(whole.steps, 7);
  EXPECT_EQ(whole.state.epochs.size(), 2u);

  TrainControl control = {.checkpoints = folder_.path() / "checkpoints", .resume = true};
  int runs = 0;
  TrainResult result = {.end = TrainEnd::interrupted};
  for (; result.end == TrainEnd::interrupted; ++runs) {
    int steps = 0;
    result = run(recipe, control,
                 {.on_step = [&](const StepReport&) { ++steps; }, .should_stop = [&] { return steps == 3; }});
  }
  EXPECT_EQ(runs, 3);
  expect_same(whole.weights, result.weights);
  EXPECT_EQ(whole.state.epochs[1].loss, result.state.epochs[1].loss);
  EXPECT_EQ(whole.state.epochs[1].test_loss, result.state.epochs[1].test_loss);
}

TEST(Trainer, EvaluatesTheEpochThatWasStoppedBeforeThat) {
  const Recipe recipe = small_recipe();
  const TestFolder folder;
  const TrainControl control = {.checkpoints = folder.path() / "checkpoints", .resume = true};
  int steps = 0;
  TrainHooks hooks = {.on_step = [&](const StepReport&) { ++steps; },
                      .should_stop = [&] { return steps == 4; }};
  const TrainResult stopped = run(recipe, control, hooks);
  EXPECT_EQ(stopped.end, TrainEnd::interrupted);
  EXPECT_TRUE(stopped.state.epochs.empty());
  const TrainResult result = run(recipe, control);
  EXPECT_EQ(result.state.epochs.size(), 2u);
  EXPECT_EQ(result.state.epochs[0].steps, 4);
  expect_same(run(recipe).weights, result.weights);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resuming, testing::Values("sgd", "adam"));

TEST(Trainer, GivesTheSameWeightsTwice) {
  const Recipe recipe = small_recipe();
  expect_same(run(recipe).weights, run(recipe, {.loader_threads = 3}).weights);
}

TEST(Trainer, RefusesTheCheckpointOfAnotherRun) {
  const TestFolder own;
  const fs::path folder = own.path() / "checkpoints";
  Recipe recipe = small_recipe();
  recipe.steps = 1;
  run(recipe, {.checkpoints = folder});
  EXPECT_THROW(run(recipe, {.checkpoints = folder}), UserError);
  recipe.seed = 5;
  recipe.dropout = 0.25;
  EXPECT_THAT([&] { run(recipe, {.checkpoints = folder, .resume = true}); },
              testing::ThrowsMessage<UserError>("--resume: the checkpoint is of another run: seed 4, here 5; "
                                                "dropout none, here 0.25"));
}

// Weights, the optimizer's state and the place in the data mean the same to every engine.
void go_on_with_another(const std::string& before, const std::string& now) {
  const TestFolder folder;
  const TrainControl control = {.checkpoints = folder.path() / "checkpoints", .resume = true};
  Recipe recipe = small_recipe();
  const Weights whole = run(recipe).weights;
  recipe.execution.engine = before;
  int steps = 0;
  run(recipe, control,
      {.on_step = [&](const StepReport&) { ++steps; }, .should_stop = [&] { return steps == 3; }});
  recipe.execution.engine = now;
  std::vector<std::string> notes;
  const TrainResult rest =
      run(recipe, control, {.on_note = [&](const std::string& what) { notes.push_back(what); }});
  EXPECT_EQ(rest.end, TrainEnd::done);
  EXPECT_THAT(notes, testing::Contains(testing::StartsWith(
                         fmt::format("engine {} computed it before, now {}", before, now))));
  expect_near(whole, rest.weights);
}

TEST(Trainer, GoesOnWithTheCheckpointOfAnotherEngine) {
  for (const Engine* other : engines()) {
    if (!other->computes() || other->name() == "native") continue;
    go_on_with_another(std::string(other->name()), "native");
    go_on_with_another("native", std::string(other->name()));
  }
}

TEST(Recipe, IsTheSameRunWithLittleMemory) {
  Recipe recipe = small_recipe();
  const Json whole = identity_of(recipe);
  recipe.execution.low_memory = true;
  EXPECT_EQ(identity_of(recipe), whole);
}

TEST(Trainer, StopsWithTheEpochThatReachesTheTarget) {
  const TrainResult result = run(small_recipe(), {.target_accuracy = 0.0});
  EXPECT_EQ(result.end, TrainEnd::target_reached);
  EXPECT_EQ(result.state.epochs.size(), 1u);
}

TEST(Trainer, LearnsTheImagesItIsShown) {
  Recipe recipe = small_recipe();
  recipe.model = "resnet18";
  recipe.batch = 20;
  recipe.epochs = 12;
  recipe.augmentation = "none";
  const TrainResult result = run(recipe);
  EXPECT_LT(result.state.epochs.back().loss, 0.5 * *result.state.epochs.front().loss);
  EXPECT_GT(*result.state.epochs.back().train_accuracy, 0.8);
}

TEST(Trainer, SaysWhereTheLossDiverged) {
  Recipe recipe = small_recipe();
  recipe.model = "resnet18";
  recipe.update = Sgd{.learning_rate = 1e30};
  recipe.schedule = ScheduleKind::constant;
  EXPECT_EQ(run(recipe).end, TrainEnd::diverged);
}

TEST(Trainer, CountsMemoryByPhase) {
  const TrainResult result = run(small_recipe());
  EXPECT_GT(result.plan_bytes, 0);
  EXPECT_GT(result.evaluation_plan_bytes, 0);
  EXPECT_GT(result.phase_bytes.at("train"), result.plan_bytes);
  EXPECT_GT(result.phase_bytes.at("evaluate"), result.evaluation_plan_bytes);
}

TEST(Recipe, DropoutNeedsALayerOfIt) {
  Recipe recipe = small_recipe();
  recipe.dropout = 0.2;
  EXPECT_NO_THROW(build_network(recipe));
  recipe.model = "resnet18";
  EXPECT_THROW(build_network(recipe), UserError);
  recipe.model = "unet3d";
  EXPECT_THROW(build_network(recipe), UserError);
}

}  // namespace
}  // namespace tacho
