#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/test_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

Checkpoint example(int64_t step) {
  Checkpoint checkpoint;
  checkpoint.tensors["w"] = Tensor::from<float>({2}, std::vector<float>{1, static_cast<float>(step)});
  checkpoint.counters = {7, 6};
  checkpoint.state.recipe = "this run";
  checkpoint.state.kernels = "these kernels";
  checkpoint.state.step = step;
  checkpoint.state.epochs = {{.steps = 3, .seconds = 1.5, .loss = 0.25, .test_accuracy = 0.5}};
  checkpoint.state.current = {.steps = 2, .loss = 1.25};
  return checkpoint;
}

class Checkpoints : public testing::Test {
 protected:
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

  TestFolder own_;
  fs::path path_ = own_.path() / "checkpoints";
  std::vector<std::string> unreadable_;
};

TEST_F(Checkpoints, AreReadAsTheyWereWritten) {
  CheckpointFolder folder(path_, 3);
  EXPECT_TRUE(folder.empty());
  EXPECT_FALSE(folder.read_latest(unreadable_));
  folder.write(example(5));
  const auto read = folder.read_latest(unreadable_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tensors.at("w").values<float>()[1], 5);
  EXPECT_EQ(read->tensors.size(), 1u);
  EXPECT_EQ(read->counters.passes, 7u);
  EXPECT_EQ(read->counters.updates, 6);
  EXPECT_EQ(read->state.recipe, "this run");
  EXPECT_EQ(to_json_text(read->state), to_json_text(example(5).state));
}

TEST(TrainStateText, OfAnEarlierVersionIsRead) {
  const TrainState state = state_from_json_text(
      R"({"recipe":"this run","kernels":"these","step":5,"epochs":[{"steps":3,"seconds":1.5,)"
      R"("wait_seconds":0.5,"evaluation_seconds":0.25,"loss":0.75,"learning_rate":0.1,"train_accuracy":0.5,)"
      R"("train_loss":1.0,"test_accuracy":null,"test_loss":null}],"current":{"steps":2,"seconds":0.5,)"
      R"("wait_seconds":0.0,"evaluation_seconds":0.0,"loss":1.25,"learning_rate":0.1,"train_accuracy":null,)"
      R"("train_loss":null,"test_accuracy":null,"test_loss":null}})");
  EXPECT_EQ(state.step, 5);
  ASSERT_EQ(state.epochs.size(), 1u);
  EXPECT_EQ(state.epochs[0].wait_seconds, 0.5);
  EXPECT_EQ(state.epochs[0].train_loss, 1.0);
  EXPECT_FALSE(state.epochs[0].test_accuracy);
  EXPECT_EQ(state.current.steps, 2);
  EXPECT_EQ(state.current.loss, 1.25);
}

TEST(TrainStateText, OfANewerVersionKeepsWhatItSaysOfAnEpoch) {
  const std::string text =
      R"({"recipe":"r","kernels":"k","step":1,"epochs":[{"steps":1,"seconds":1.5,"colour":"red"}],)"
      R"("current":{"seconds":0.0}})";
  EXPECT_EQ(to_json_text(state_from_json_text(text)), text);
}

TEST(TrainStateText, ThatIsNoneIsRefused) {
  EXPECT_THROW(state_from_json_text("{"), UserError);
  EXPECT_THROW(state_from_json_text("{}"), UserError);
  EXPECT_THROW(state_from_json_text(R"({"recipe":"r","kernels":"k","step":1,"epochs":[1],"current":{}})"),
               UserError);
  EXPECT_THROW(
      state_from_json_text(R"({"recipe":"r","kernels":"k","step":1,"epochs":[],"current":{"loss":"x"}})"),
      UserError);
}

TEST_F(Checkpoints, OfWhichOnlyTheLastAreKept) {
  CheckpointFolder folder(path_, 2);
  for (const int64_t step : {9, 10, 11}) folder.write(example(step));
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(folder.read_latest(unreadable_)->state.step, 11);
}

TEST_F(Checkpoints, ThatCannotBeReadAreSkipped) {
  CheckpointFolder folder(path_, 3);
  folder.write(example(1));
  write_file_atomically(path_ / "step-0000000002.safetensors", "damaged");
  EXPECT_EQ(folder.read_latest(unreadable_)->state.step, 1);
  ASSERT_EQ(unreadable_.size(), 1u);
  EXPECT_THAT(unreadable_[0], testing::HasSubstr("step-0000000002"));
}

TEST_F(Checkpoints, ThatCannotBeReadDoNotPushOutOthers) {
  CheckpointFolder folder(path_, 1);
  folder.write(example(1));
  write_file_atomically(path_ / "step-0000000009.safetensors", "damaged");
  folder.write(example(2));
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(folder.read_latest(unreadable_)->state.step, 2);
}

TEST_F(Checkpoints, KeepNamesThatAreNoUtf8) {
  CheckpointFolder folder(path_, 1);
  Checkpoint checkpoint = example(1);
  checkpoint.state.recipe = "cifar10:\xff";
  folder.write(std::move(checkpoint));
  EXPECT_EQ(folder.read_latest(unreadable_)->state.recipe, Json::parse(to_text(Json("cifar10:\xff"))));
}

TEST_F(Checkpoints, HalfWrittenAreRemoved) {
  fs::create_directories(path_);
  write_file_atomically(path_ / "step-0000000002.safetensors.99.tmp", "half");
  EXPECT_TRUE(CheckpointFolder(path_, 3).empty());
  EXPECT_EQ(files(), 0u);
}

TEST_F(Checkpoints, NeedAFolder) {
  write_file_atomically(path_, "a file");
  EXPECT_THROW(CheckpointFolder(path_, 3), UserError);
}

}  // namespace
}  // namespace tacho
