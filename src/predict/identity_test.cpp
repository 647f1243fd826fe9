#include "predict/identity.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/json_values.h"
#include "predict/block_plan.h"
#include "predict/journal.h"
#include "predict/test_volume.h"

namespace tacho {
namespace {

// All that an identity is made of.
struct Subject {
  std::string model = "unet3d";
  std::vector<float> weight = {1, 2, 3};
  std::string weight_name = "conv.weight";
  MemoryVolume input = MemoryVolume({5, 60, 70});
  VoxelNormalization normalization = {0, 255};
  Execution execution = {.engine = "native"};
  BlockOptions block = {.block = {4, 8, 8}};
  ZarrDescription output = {.chunk = {4, 8, 8}, .type = VoxelType::u8};

  Json identity() {
    Weights weights;
    weights.emplace(weight_name, Tensor::from<float>({3}, weight));
    return prediction_identity({model, weights, input, normalization, execution, block, output});
  }
};

TEST(Identity, IsTheSameForTheSame) { EXPECT_EQ(Subject().identity(), Subject().identity()); }

TEST(Identity, ChangesWithEverythingThatDecidesBytes) {
  const std::vector<std::function<void(Subject&)>> changes = {
      [](Subject& s) { s.model = "unet3d_lite"; },
      [](Subject& s) { s.weight[2] = 4; },
      [](Subject& s) { s.weight_name = "other.weight"; },
      [](Subject& s) {
        s.input = MemoryVolume({5, 60, 71});
      },
      [](Subject& s) {
        s.input = MemoryVolume({5, 60, 70}, VoxelType::u16);
      },
      [](Subject& s) {
        s.input = MemoryVolume({5, 60, 70}, VoxelType::u8, 1);
      },
      [](Subject& s) { s.normalization.mean = 3; },
      [](Subject& s) { s.normalization.deviation = 3; },
      [](Subject& s) { s.execution.engine = "reference"; },
      [](Subject& s) { s.execution.precision = "bf16"; },
      [](Subject& s) { s.execution.kernel = "onednn"; },
      [](Subject& s) { s.execution.device = "cuda:0"; },
      [](Subject& s) { s.execution.low_memory = true; },
      [](Subject& s) { s.execution.threads = 3; },
      [](Subject& s) {
        s.block.block = {4, 8, 16};
      },
      [](Subject& s) {
        s.block.halo = Point{0, 0, 0};
      },
      [](Subject& s) { s.block.border = Border::network; },
      [](Subject& s) {
        s.output.chunk = {4, 4, 4};
      },
      [](Subject& s) { s.output.type = VoxelType::f32; },
      [](Subject& s) { s.output.compression = Compression::zstd; }};
  std::set<std::string> found = {to_text(Subject().identity())};
  for (const auto& change : changes) {
    Subject subject;
    change(subject);
    EXPECT_TRUE(found.insert(to_text(subject.identity())).second) << found.size();
  }
}

TEST(Identity, DoesNotDependOnHowManyDevicesCompute) {
  Subject subject;
  subject.execution.devices = 4;
  EXPECT_EQ(subject.identity(), Subject().identity());
}

TEST(Identity, DoesNotDependOnWhichGpuComputes) {
  Subject one, other;
  one.execution.device = "cuda:0";
  other.execution.device = "cuda:1";
  EXPECT_EQ(one.identity(), other.identity());
}

// So that whoever has other cores to go on with may do so.
TEST(Identity, SaysOfThreadsOnlyThatTheyRound) {
  Subject subject;
  subject.execution.threads = 3;
  Json identity = subject.identity(), one_thread = Subject().identity();
  EXPECT_EQ(identity[kRounding]["threads"], 3);
  identity.erase(kRounding);
  one_thread.erase(kRounding);
  EXPECT_EQ(identity, one_thread);
}

// An output that another version of the program cut into other tiles is not gone on with.
TEST(Identity, NamesTheVersionOfTheTiling) { EXPECT_EQ(Subject().identity()["tiling"], kTilingVersion); }

}  // namespace
}  // namespace tacho
