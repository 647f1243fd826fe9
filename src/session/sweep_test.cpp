#include "session/sweep.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/json_values.h"
#include "results/fields.h"

namespace tacho {
namespace {

TEST(Sweep, RunsTheProductWithTheBatchChangingFastest) {
  const auto cells = expand({{"model", "resnet18,vgg16"}, {"mode", "infer,train"}, {"batch", "1,2,4"}}, 2);
  ASSERT_EQ(cells.size(), 12u);
  EXPECT_EQ(cells[0].batch, 1);
  EXPECT_EQ(cells[1].batch, 2);
  EXPECT_EQ(cells[2].mode, Mode::infer);
  EXPECT_EQ(cells[3].mode, Mode::train);
  EXPECT_EQ(cells[5].model, "resnet18");
  EXPECT_EQ(cells[6].model, "vgg16");
}

TEST(Sweep, EveryAxisOfTheTableReachesTheCase) {
  const std::map<std::string_view, std::string_view> texts = {{"mode", "train"},
                                                              {"autotune", "on"},
                                                              {"memory", "low"},
                                                              {"parallel", "scatter"},
                                                              {"batch_norm", "sync"}};
  for (const Field& field : fields()) {
    if (field.axis.parse == nullptr) continue;
    const auto text = texts.find(field.name);
    const Json value = field.axis.parse("--x", text == texts.end() ? "7" : text->second).front();
    // Several devices alone exchange gradients, and GPUs alone are tuned.
    Case cell = {.mode = Mode::train, .execution = {.device = "cuda", .devices = 2}};
    EXPECT_TRUE(set_field(cell, field.name, value)) << field.name;
    EXPECT_EQ(fields_of(cell)[std::string(field.name)], value) << field.name;
  }
}

TEST(Sweep, KernelsMemoryAndPrecisionAreAxesToo) {
  const auto cells = expand({{"model", "resnet18"},
                             {"mode", "train"},
                             {"kernel", "direct,winograd"},
                             {"memory", "normal,low"},
                             {"precision", "f32,bf16"}},
                            2);
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(cells[0].execution.precision, "f32");
  EXPECT_EQ(cells[4].execution.precision, "bf16");
  EXPECT_EQ(cells[0].execution.kernel, "direct");
  EXPECT_FALSE(cells[0].execution.low_memory);
  EXPECT_TRUE(cells[1].execution.low_memory);
}

TEST(Sweep, BothModesCanSaveMemory) {
  const auto cells = expand({{"model", "resnet18"}, {"mode", "infer,train"}, {"memory", "normal,low"}}, 2);
  EXPECT_EQ(cells.size(), 4u);
}

TEST(Sweep, EachModeHasOnlyItsOwnWaysToShareAPass) {
  const auto both =
      expand({{"model", "resnet18"}, {"mode", "infer,train"}, {"parallel", "scatter,allreduce"}}, 2);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].execution.parallel, "scatter");
  EXPECT_EQ(both[1].execution.parallel, "allreduce");
  // One mode alone: the mistake is said, not hidden.
  EXPECT_EQ(expand({{"model", "resnet18"}, {"mode", "infer"}, {"parallel", "allreduce"}}, 2).size(), 1u);
}

TEST(Sweep, RefusesWhatWasTypedAsNothing) {
  for (const char* name : {"model", "batch", "threads", "mode", "memory", "weights", "seed", "image"}) {
    TypedAxes typed = {{"model", "resnet18"}};
    typed[name] = "";
    EXPECT_THROW(expand(typed, 2), UserError) << name;
  }
}

TEST(Sweep, TakesEachModelsOwnImageAndBatch) {
  const auto cells = expand({{"model", "resnet18,inception_v3,unet3d_lite"}}, 2);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].image, (Extents{224, 224}));
  EXPECT_EQ(cells[0].batch, 16);
  EXPECT_EQ(cells[1].image, (Extents{299, 299}));
  EXPECT_EQ(cells[2].image.size(), 3u);
  EXPECT_EQ(cells[2].batch, 1);
}

TEST(Sweep, SharesTheUsableCoresAmongTheDevices) {
  const auto cells = expand({{"model", "resnet18"}, {"devices", "1,2,16"}}, 8);
  EXPECT_EQ(cells[0].execution.threads, 8);
  EXPECT_EQ(cells[1].execution.threads, 4);
  EXPECT_EQ(cells[2].execution.threads, 1);
}

TEST(Sweep, OneNumberIsASquareButNoVolume) {
  EXPECT_EQ(expand({{"model", "resnet18"}, {"image", "32"}}, 2)[0].image, (Extents{32, 32}));
  EXPECT_THROW(expand({{"model", "unet3d_lite"}, {"image", "32"}}, 2), UserError);
}

TEST(Sweep, RefusesMoreCellsThanAnybodyCanWaitFor) {
  EXPECT_THROW(expand({{"model", "resnet18"}, {"batch", "1-1000"}, {"threads", "1-1000"}}, 2), UserError);
}

TEST(Sweep, RefusesAnImageWithTheWrongNumberOfAxes) {
  EXPECT_THROW(expand({{"model", "resnet18"}, {"image", "40x216x216"}}, 2), UserError);
}

}  // namespace
}  // namespace tacho
