#include "predict/block_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/complaint.h"
#include "base/error.h"
#include "engine/engines.h"
#include "engine/idle_plan.h"
#include "graph/builder.h"
#include "graph/receptive_field.h"
#include "models/families.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "predict/block_plan.h"
#include "predict/tiling.h"
#include "volume/pad.h"

namespace tacho {
namespace {

constexpr float kTolerance = 1e-5F;
constexpr int64_t kManyTiles = 8 << 20;  // of activations

// As unet3d, but of few features.
constexpr VolumeScale kThird = {{1, 3, 3}, {1, 4, 4}, {0, 1, 1}};
constexpr UNet3dConfig kThin = {2, 2, {kThird, kThird, kThird}};

Graph thin_unet3d(const Point& image) {
  Model model = find_model("unet3d");
  return unet3d(model, {.image = {image.begin(), image.end()}}, kThin);
}

// Poolings and a residual sum, of which one part is narrower than the other.
Graph residual(const Point& image) {
  Builder b("residual");
  ValueId x = b.input("input", {1, 1, image[0], image[1], image[2]});
  const ConvolutionOptions wide = {.channels = 5, .kernel = {3, 3, 3}, .padding = {1, 1, 1}};
  x = b.relu("a.relu", b.convolution("a", x, wide));
  x = b.add("sum", x, b.elu("b.elu", b.convolution("b", x, wide)));
  x = b.max_pool("pool", x, {.kernel = {3, 3, 3}, .stride = {1, 2, 2}, .padding = {1, 1, 1}});
  x = b.average_pool("average", x, {.kernel = {3, 1, 1}, .stride = {1, 1, 1}, .padding = {1, 0, 0}});
  x = b.upsample("up", b.batch_norm("norm", x), {1, 2, 2});
  return b.finish(b.sigmoid("sigmoid", b.convolution("c", x, {.channels = 2, .kernel = {1, 1, 1}})));
}

struct Network {
  Graph (*build)(const Point& image);
  Point multiple;  // of its image
};

Graph zoo_network(std::string_view name, const Point& image) {
  return build_model(find_model(name), {.image = {image.begin(), image.end()}});
}

const Network kLite = {[](const Point& image) { return zoo_network("unet3d_lite", image); }, {4, 8, 8}};
const Network kUNet3d = {[](const Point& image) { return zoo_network("unet3d", image); }, {1, 27, 27}};
const Network kThinUNet = {thin_unet3d, {1, 27, 27}};
const Network kResidual = {residual, {1, 2, 2}};

const Engine& engine() { return find_engine("native"); }
// One kernel: choosing the fastest would take longer than the tests.
CompileOptions options_of_engine() { return {.kernel = "onednn"}; }

std::vector<float> random_volume(const Point& size) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(0, 1);
  std::vector<float> volume(static_cast<size_t>(voxels(size)));
  for (float& voxel : volume) voxel = value(random);
  return volume;
}

size_t count(const Box& box) { return static_cast<size_t>(voxels(box)); }

std::vector<float> seen(const Box& box, const Point& size, const std::vector<float>& volume, Border border) {
  std::vector<float> voxels_of_box(count(box));
  if (border == Border::reflect) {
    mirror_into(box, size, whole(size), volume, voxels_of_box);
  } else {
    place_into(box, whole(size), volume, voxels_of_box);
  }
  return voxels_of_box;
}

// The network on all of `image` at once, of which `part` is kept.
std::vector<float> at_once(const Network& network, const Weights& weights, const Box& image,
                           const std::vector<float>& input, const Box& part) {
  const Graph graph = network.build(image.size());
  const auto plan = engine().compile(graph, clone(weights), options_of_engine());
  plan->write(graph.inputs[0], Tensor::from<float>(graph.shape(graph.inputs[0]), input));
  plan->forward();
  const Tensor output = plan->read(graph.outputs[0]);
  const int64_t channels = graph.shape(graph.outputs[0])[1];
  std::vector<float> kept(static_cast<size_t>(channels) * count(part));
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = static_cast<size_t>(c);
    copy_part(part, image, std::as_const(output).values<float>().subspan(at * count(image), count(image)),
              part, std::span(kept).subspan(at * count(part), count(part)));
  }
  return kept;
}

int64_t rounded_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// What the whole volume gives, by the meaning of the border.
std::vector<float> truth(const Network& network, const Weights& weights, const Point& size,
                         const std::vector<float>& volume, Border border) {
  const auto fields = receptive_field(network.build(network.multiple)).value();
  Box image;
  for (size_t axis = 0; axis < size.size(); ++axis) {
    const int64_t step = network.multiple[axis];
    const bool mirrored = border == Border::reflect;
    image.begin[axis] = mirrored ? -rounded_up(fields[axis].before, step) : 0;
    image.end[axis] = rounded_up(size[axis] + (mirrored ? fields[axis].after : 0), step);
  }
  return at_once(network, weights, image, seen(image, size, volume, border), whole(size));
}

std::vector<float> in_blocks(const Network& network, const Weights& weights, const Point& size,
                             const std::vector<float>& volume, const BlockOptions& options,
                             const CompileOptions& compile = options_of_engine()) {
  BlockRunner runner(network.build(network.multiple), weights, engine(), compile, size, options);
  const Tiling tiling{size, options.block};
  const auto channels = static_cast<size_t>(runner.channels());
  std::vector<float> result(channels * volume.size(), -1.0F);
  for (int64_t number = 0; number < tiling.count(); ++number) {
    const Box output = tiling.box(number), input = runner.input_box(output);
    EXPECT_LE(voxels(input), runner.largest_input());
    std::vector<float> block(channels * count(output), -1.0F);
    runner.run(output, seen(input, size, volume, options.border), block);
    for (size_t c = 0; c < channels; ++c)
      copy_part(output, output, std::span<const float>(block).subspan(c * count(output), count(output)),
                whole(size), std::span(result).subspan(c * volume.size(), volume.size()));
  }
  return result;
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

// The last of the blocks in few tiles, the others in many.
void expect_the_same(const Network& network, const Point& size, const std::vector<Point>& blocks,
                     Border border) {
  const Weights weights = initialize(network.build(network.multiple), 3);
  const std::vector<float> volume = random_volume(size);
  const std::vector<float> expected = truth(network, weights, size, volume, border);
  for (const Point& block : blocks) {
    const BlockOptions options{
        .block = block,
        .border = border,
        .halo = {},
        .activation_bytes = block == blocks.back() ? kDefaultActivationBytes : kManyTiles};
    EXPECT_LT(largest_difference(in_blocks(network, weights, size, volume, options), expected), kTolerance)
        << to_string(block) << " of " << to_string(size);
  }
}

class BlocksEqualTheWhole : public testing::TestWithParam<Border> {};

TEST_P(BlocksEqualTheWhole, OfUNet3dLite) {
  expect_the_same(kLite, {9, 37, 29}, {{9, 24, 16}, {5, 37, 21}, {64, 64, 64}}, GetParam());
}

TEST_P(BlocksEqualTheWhole, OfAThinUNet3dWhosePoolingsOverlap) {
  expect_the_same(kThinUNet, {7, 61, 45}, {{7, 54, 27}, {4, 40, 45}, {64, 64, 64}}, GetParam());
}

TEST_P(BlocksEqualTheWhole, OfAVolumeSmallerThanItsHalo) {
  expect_the_same(kLite, {1, 3, 5}, {{4, 8, 8}, {1, 2, 4}}, GetParam());
}

TEST_P(BlocksEqualTheWhole, OfANetworkWithAResidualSum) {
  expect_the_same(kResidual, {5, 11, 9}, {{5, 5, 5}, {2, 4, 6}, {9, 20, 20}}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Borders, BlocksEqualTheWhole, testing::Values(Border::reflect, Border::network),
                         [](const auto& test) {
                           return test.param == Border::reflect ? "reflect" : "network";
                         });

TEST(Blocks, OfUNet3dEqualTheWhole) { expect_the_same(kUNet3d, {3, 30, 29}, {{2, 27, 27}}, Border::network); }

// A volume of which threads compute tiles of their own.
struct ManyTiles {
  Point size = {21, 90, 101};
  BlockOptions block = {.block = size};
  Weights weights = initialize(kLite.build(kLite.multiple), 3);
  std::vector<float> volume = random_volume(size);

  std::vector<float> by_threads(int threads, const std::string& kernel) const {
    const CompileOptions options = {.threads = threads, .kernel = kernel};
    const BlockPlan plan(kLite.build(kLite.multiple), engine(), options, size, block);
    EXPECT_EQ(plan.stages().front().tiles_at_once, threads);
    return in_blocks(kLite, weights, size, volume, block, options);
  }
};

TEST(Blocks, OfThreadsThatEachComputeTilesOfTheirOwnEqualTheWhole) {
  for (const Border border : {Border::reflect, Border::network}) {
    ManyTiles tiles;
    tiles.block.border = border;
    const auto expected = truth(kLite, tiles.weights, tiles.size, tiles.volume, border);
    for (const std::string& kernel : engine().kernels())
      EXPECT_LT(largest_difference(tiles.by_threads(3, kernel), expected), kTolerance) << kernel;
  }
}

TEST(Blocks, OfThreadsAreTheSameInEveryRun) {
  const ManyTiles tiles;
  const std::string own_kernel = engine().kernels().back();
  EXPECT_EQ(tiles.by_threads(3, own_kernel), tiles.by_threads(3, own_kernel));
}

// Weights that outgrow the caches, packed as Winograd needs them, would be read again for every tile.
TEST(Blocks, OfManyChannelsAreComputedByAllThreadsTogether) {
  const Point size = {55, 575, 575};
  const BlockPlan plan(kUNet3d.build(kUNet3d.multiple), engine(), {.threads = 2}, size, {.block = size});
  EXPECT_EQ(plan.stages().front().tiles_at_once, 2);
  for (const PlannedStage& stage : plan.stages()) {
    const CompileOptions one_thread = {.kernel = "winograd"};
    const Graph& tile = stage.network.graph;
    const int64_t packed = engine().estimate_memory_bytes(tile, one_thread) -
                           engine().estimate_memory_bytes(tile, {.kernel = "direct"});
    EXPECT_TRUE(stage.tiles_at_once == 1 || packed <= int64_t{4} << 20) << packed;
  }
}

TEST(Blocks, OfAGpuAreNotCutForTheCachesOfACpu) {
  const Point size = {21, 90, 77};
  const BlockPlan plan(kLite.build(kLite.multiple), engine(), {.threads = 2, .device = "cuda:0"}, size,
                       {.block = size});
  for (const PlannedStage& stage : plan.stages()) {
    EXPECT_EQ(stage.tiles_at_once, 1);
    EXPECT_EQ(stage.counts, (Point{1, 1, 1}));
  }
}

// Whose third tile cannot be computed.
class FailingPlan : public IdlePlan {
 public:
  void forward() override {
    if (++tiles_ == 3) throw UserError("the third tile");
  }

 private:
  int tiles_ = 0;
};

class FailingEngine : public Engine {
 public:
  std::string_view name() const override { return "failing"; }
  std::string version() const override { return "1"; }
  bool computes_side_by_side() const override { return true; }
  int64_t estimate_memory_bytes(const Graph&, const CompileOptions&) const override { return 0; }
  std::unique_ptr<Plan> compile(const Graph&, Weights, const CompileOptions&) const override {
    return std::make_unique<FailingPlan>();
  }
};

TEST(Blocks, OfThreadsSayWhatWentWrongInOneOfThem) {
  const ManyTiles tiles;
  const FailingEngine failing;
  BlockRunner runner(kLite.build(kLite.multiple), tiles.weights, failing, {.threads = 3}, tiles.size,
                     tiles.block);
  const Box box = whole(tiles.size);
  const auto input = seen(runner.input_box(box), tiles.size, tiles.volume, tiles.block.border);
  std::vector<float> result(static_cast<size_t>(runner.channels()) * count(box));
  EXPECT_EQ(complaint([&] { runner.run(box, input, result); }), "the third tile");
}

// Each block with a halo is the middle of the network on its box.
void expect_middles(const Point& size, const BlockOptions& options, const CompileOptions& compile) {
  const Weights weights = initialize(kLite.build(kLite.multiple), 5);
  const std::vector<float> volume = random_volume(size);
  BlockRunner runner(kLite.build(kLite.multiple), weights, engine(), compile, size, options);
  const Tiling tiling{size, options.block};
  for (int64_t number = 0; number < tiling.count(); ++number) {
    const Box output = tiling.box(number);
    Box image = output;
    for (size_t axis = 0; axis < size.size(); ++axis) {
      image.begin[axis] = output.begin[axis] - (*options.halo)[axis];
      image.end[axis] = output.begin[axis] + options.block[axis] + (*options.halo)[axis];
    }
    const auto expected = at_once(kLite, weights, image, seen(image, size, volume, options.border), output);
    std::vector<float> block(expected.size(), -1.0F);
    runner.run(output, seen(runner.input_box(output), size, volume, options.border), block);
    EXPECT_LT(largest_difference(block, expected), kTolerance) << number;
  }
}

TEST(Blocks, WithAHaloAreTheMiddleOfTheNetworkOnTheirBox) {
  const BlockOptions options{.block = {4, 20, 30}, .halo = Point{2, 6, 5}, .activation_bytes = kManyTiles};
  expect_middles({9, 50, 41}, options, options_of_engine());
}

TEST(Blocks, WithAHaloAreTheSameByThreadsWithTilesOfTheirOwn) {
  const Point size = {20, 90, 150};
  const BlockOptions options{.block = {20, 84, 86}, .halo = Point{2, 6, 5}};
  const CompileOptions compile{.threads = 3, .kernel = engine().kernels().back()};
  const BlockPlan plan(kLite.build(kLite.multiple), engine(), compile, size, options);
  EXPECT_EQ(plan.stages().front().tiles_at_once, 3);
  expect_middles(size, options, compile);
}

TEST(Blocks, WithAHaloThatDoesNotFitNameTheNearest) {
  const BlockOptions options{.block = {4, 21, 30}, .halo = Point{2, 6, 5}};
  try {
    estimate_block(kLite.build(kLite.multiple), engine(), {}, {9, 50, 41}, options);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("20 and 28"), std::string::npos) << error.what();
  }
}

TEST(Blocks, OfANetworkThatPoolsGloballyAreRefused) {
  Builder b("global");
  const Graph graph = b.finish(b.global_average_pool("pool", b.input("input", {1, 1, 8, 8, 8})));
  EXPECT_THROW(estimate_block(graph, engine(), {}, {8, 8, 8}, {.block = {4, 4, 4}}), UserError);
}

TEST(Blocks, ComputeLessThanTheWholeInputBoxAndHoldLessThanAsked) {
  const Graph graph = kLite.build(kLite.multiple);
  const Point volume = {200, 600, 600};
  const BlockCost cost = estimate_block(graph, engine(), {}, volume, {.block = {40, 120, 120}});
  EXPECT_GT(cost.saved(), 0.2);
  const BlockCost small =
      estimate_block(graph, engine(), {}, volume, {.block = {40, 120, 120}, .activation_bytes = 16 << 20});
  EXPECT_LT(small.memory_bytes, cost.memory_bytes);
  EXPECT_GT(small.flop, cost.flop);
}

// Where a block begins within a period decides nothing.
TEST(Blocks, ComputeEachStageOnceWhereOneTileHoldsIt) {
  const Point size = {3, 26, 8};
  const Graph graph = kLite.build(kLite.multiple);
  const BlockOptions options{.block = {3, 13, 8}};
  BlockRunner runner(graph, initialize(graph, 5), engine(), options_of_engine(), size, options);
  const std::vector<float> volume = random_volume(size);
  const Tiling tiling{size, options.block};
  for (int64_t number = 0; number < tiling.count(); ++number) {
    const Box output = tiling.box(number);
    std::vector<float> result(static_cast<size_t>(runner.channels()) * count(output));
    runner.run(output, seen(runner.input_box(output), size, volume, options.border), result);
  }
  EXPECT_EQ(runner.flop_done(), static_cast<double>(tiling.count()) * runner.cost().flop);
}

}  // namespace
}  // namespace tacho
