#include "bench/sweep.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

Sweep sweep_of(std::vector<std::string> models) { return {.models = std::move(models), .engines = {"null"}}; }

TEST(Sweep, RunsTheProductWithTheBatchChangingFastest) {
  Sweep sweep = sweep_of({"resnet18", "vgg16"});
  sweep.modes = {Mode::infer, Mode::train};
  sweep.batches = {1, 2, 4};
  const auto cells = expand(sweep, 2);
  ASSERT_EQ(cells.size(), 12u);
  EXPECT_EQ(cells[0].batch, 1);
  EXPECT_EQ(cells[1].batch, 2);
  EXPECT_EQ(cells[2].mode, Mode::infer);
  EXPECT_EQ(cells[3].mode, Mode::train);
  EXPECT_EQ(cells[5].model, "resnet18");
  EXPECT_EQ(cells[6].model, "vgg16");
}

TEST(Sweep, TakesEachModelsOwnImageAndBatch) {
  const auto cells = expand(sweep_of({"resnet18", "inception_v3", "unet3d_lite"}), 2);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].image, (Extents{224, 224}));
  EXPECT_EQ(cells[0].batch, 16);
  EXPECT_EQ(cells[1].image, (Extents{299, 299}));
  EXPECT_EQ(cells[2].image.size(), 3u);
  EXPECT_EQ(cells[2].batch, 1);
}

TEST(Sweep, SharesTheUsableCoresAmongTheDevices) {
  Sweep sweep = sweep_of({"resnet18"});
  sweep.devices = {1, 2, 16};
  const auto cells = expand(sweep, 8);
  EXPECT_EQ(cells[0].threads, 8);
  EXPECT_EQ(cells[1].threads, 4);
  EXPECT_EQ(cells[2].threads, 1);
}

TEST(Sweep, OneNumberIsASquareButNoVolume) {
  Sweep sweep = sweep_of({"resnet18"});
  sweep.images = {{32}};
  EXPECT_EQ(expand(sweep, 2)[0].image, (Extents{32, 32}));
  sweep.models = {"unet3d_lite"};
  EXPECT_THROW(expand(sweep, 2), UserError);
}

TEST(Sweep, RefusesMoreCellsThanAnybodyCanWaitFor) {
  Sweep sweep = sweep_of({"resnet18"});
  sweep.batches.assign(1000, 1);
  sweep.threads.assign(1000, 1);
  EXPECT_THROW(expand(sweep, 2), UserError);
}

TEST(Sweep, RefusesAnImageWithTheWrongNumberOfAxes) {
  Sweep sweep = sweep_of({"resnet18"});
  sweep.images = {{40, 216, 216}};
  EXPECT_THROW(expand(sweep, 2), UserError);
}

TEST(Sweep, CheckRefusesWhatCanNeverRun) {
  const Case good = expand(sweep_of({"resnet18"}), 2)[0];
  EXPECT_NO_THROW(check_case(good));
  Case cell = good;
  cell.devices = 2;
  EXPECT_THROW(check_case(cell), UserError);
  cell = good;
  cell.engine = "steam";
  EXPECT_THROW(check_case(cell), UserError);
  cell = expand(sweep_of({"unet3d"}), 2)[0];
  cell.image = {8, 100, 100};
  EXPECT_THROW(check_case(cell), UserError);
}

TEST(Sweep, ExpectsTrainingToTakeAboutThreeTimesAsLong) {
  Case cell = expand(sweep_of({"resnet18"}), 2)[0];
  const double infer = expected_work(cell);
  cell.mode = Mode::train;
  EXPECT_GT(expected_work(cell), 2.5 * infer);
  EXPECT_LT(expected_work(cell), 3.5 * infer);
}

TEST(Sweep, ExpectsNoWorkOfACellThatCannotFit) {
  Case cell = expand(sweep_of({"resnet18"}), 2)[0];
  cell.batch = 4'000'000;
  EXPECT_EQ(expected_work(cell), 0);
}

}  // namespace
}  // namespace tacho
