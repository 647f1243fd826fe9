#include "graph/shape_inference.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/window.h"

namespace tacho {
namespace {

TEST(Window, FloorAndCeilModeDifferByTheIncompleteWindow) {
  EXPECT_EQ(output_extent(7, {.kernel = 2, .stride = 2}), 3);
  EXPECT_EQ(output_extent(7, {.kernel = 2, .stride = 2, .ceil_mode = true}), 4);
}

TEST(Window, CeilModeDropsAWindowThatStartsBehindTheInput) {
  EXPECT_EQ(output_extent(5, {.kernel = 2, .stride = 2, .padding = 1, .ceil_mode = true}), 3);
}

TEST(Window, CeilModeTakesAWindowLargerThanTheInput) {
  EXPECT_EQ(output_extent(2, {.kernel = 3, .stride = 2, .ceil_mode = true}), 1);
}

TEST(Window, DilationWidensTheKernel) { EXPECT_EQ(output_extent(9, {.kernel = 3, .dilation = 4}), 1); }

TEST(Window, ThatDoesNotFitHasNoPosition) { EXPECT_LT(output_extent(2, {.kernel = 3}), 1); }

TEST(ShapeInference, ConvolutionInThreeDimensions) {
  Builder b("g");
  const ValueId x = b.input("input", {2, 3, 5, 7, 9});
  const ValueId y = b.convolution("conv", x, {.channels = 4, .kernel = {1, 3, 3}, .stride = {1, 2, 3}});
  EXPECT_EQ(b.shape(y), (Shape{2, 4, 5, 3, 3}));
}

std::string error_of(const std::function<void(Builder&, ValueId)>& build) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 6, 4, 4});
  try {
    build(b, x);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ShapeInference, AMisfitNamesItsLayer) {
  EXPECT_EQ(error_of([](Builder& b, ValueId x) {
              b.convolution("features.3", x, {.channels = 4, .kernel = {5, 5}});
            }),
            "features.3: the input 1x6x4x4 is too small for a kernel of 5 with padding 0");
  EXPECT_EQ(error_of([](Builder& b, ValueId x) { b.max_pool("pool", x, {.kernel = {2}}); }),
            "pool: kernel 2 does not match the 2 spatial axes of the input 1x6x4x4");
}

TEST(ShapeInference, RefusesGroupsThatDoNotDivideTheChannels) {
  EXPECT_NE(error_of([](Builder& b, ValueId x) {
              b.convolution("conv", x, {.channels = 8, .kernel = {1, 1}, .groups = 4});
            }),
            "");
}

TEST(ShapeInference, RefusesToAddOrJoinWhatDoesNotFit) {
  const auto pooled = [](Builder& b, ValueId x) { return b.max_pool("pool", x, {.kernel = {2, 2}}); };
  EXPECT_NE(error_of([&](Builder& b, ValueId x) { b.add("add", x, pooled(b, x)); }), "");
  EXPECT_NE(error_of([&](Builder& b, ValueId x) { b.concat("join", {x, pooled(b, x)}); }), "");
}

TEST(ShapeInference, RefusesToTrainABatchNormOnOneValuePerChannel) {
  const TensorType channels{{6}};
  const std::vector<TensorType> inputs = {{{1, 6, 1, 1}}, channels, channels, channels, channels};
  EXPECT_THROW(infer_types(BatchNorm{.training = true}, "norm", inputs), UserError);
  EXPECT_NO_THROW(infer_types(BatchNorm{.training = false}, "norm", inputs));
}

TEST(ShapeInference, RefusesALinearLayerOnAnImage) {
  EXPECT_NE(error_of([](Builder& b, ValueId x) { b.linear("fc", x, {.features = 10}); }), "");
}

}  // namespace
}  // namespace tacho
