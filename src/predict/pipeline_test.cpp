#include "predict/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "base/error.h"
#include "base/json_values.h"
#include "base/test_folder.h"
#include "engine/engines.h"
#include "graph/builder.h"
#include "models/initialize.h"
#include "predict/test_volume.h"

namespace tacho {
namespace {

constexpr Point kVolume = {4, 9, 30}, kBlock = {4, 9, 2};

Graph one_convolution() {
  Builder b("one");
  const ValueId x = b.input("input", {1, 1, 4, 9, 30});
  return b.finish(b.sigmoid(
      "sigmoid", b.convolution("c", x, {.channels = 2, .kernel = {3, 3, 3}, .padding = {1, 1, 1}})));
}

// Its reads fail from one of them on.
class FailingVolume final : public MemoryVolume {
 public:
  explicit FailingVolume(int good_reads) : MemoryVolume(kVolume), good_reads_(good_reads) {}
  void read(const Box& box, std::span<std::byte> to) override {
    if (good_reads_-- == 0) throw UserError("memory is damaged");
    MemoryVolume::read(box, to);
  }

 private:
  int good_reads_;
};

class PipelineOfBlocks : public testing::Test {
 protected:
  PipelineOfBlocks()
      : network_(one_convolution(), initialize(one_convolution(), 0), find_engine("native"),
                 {.kernel = "onednn"}, kVolume, {.block = kBlock}),
        output_(ZarrOutput::create(
            path(), {.channels = 2, .shape = kVolume, .chunk = kBlock, .type = VoxelType::u8})) {
    write_identity(path(), Json::object());
    journal_.emplace(path(), 0);
    std::vector<int64_t> numbers;
    for (int64_t number = 0; number < tiling_.count(); ++number) numbers.push_back(number);
    blocks_.emplace(*alone_, numbers);
  }

  std::filesystem::path path() const { return folder_.path() / "out.zarr"; }

  PipelineFigures run(Volume& input, const PipelineHooks& hooks = {}) {
    return run_pipeline({.input = input,
                         .normalization = {0, 255},
                         .border = Border::reflect,
                         .tiling = tiling_,
                         .network = network_,
                         .output = output_,
                         .journal = *journal_,
                         .blocks = *blocks_},
                        hooks);
  }

  TestFolder folder_;
  const Tiling tiling_ = {kVolume, kBlock};
  BlockRunner network_;
  ZarrOutput output_;
  std::optional<Journal> journal_;
  std::unique_ptr<Communicator> alone_ = alone();
  std::optional<Dealer> blocks_;
};

TEST_F(PipelineOfBlocks, WritesAndNotesEveryBlockAndCountsThem) {
  MemoryVolume input(kVolume);
  int64_t told = 0;
  const PipelineFigures figures = run(input, {.on_block = [&](int64_t blocks) { told = blocks; }});
  EXPECT_EQ(told, tiling_.count());
  EXPECT_EQ(figures.blocks, tiling_.count());
  EXPECT_EQ(figures.output_voxels, voxels(kVolume));
  EXPECT_EQ(figures.input_voxels, tiling_.count() * voxels(Point{6, 11, 4}));
  EXPECT_EQ(figures.bytes_read, voxels(kVolume) + (2 * tiling_.count() - 2) * 4 * 9);
  int64_t bytes = 0;
  for (const auto& [block, done] : read_journal(path())) bytes += done.bytes;
  EXPECT_EQ(figures.bytes_written, bytes);
}

TEST_F(PipelineOfBlocks, RethrowsWhatTheReaderMet) {
  FailingVolume input(3);
  EXPECT_THROW(run(input), UserError);
  EXPECT_LE(read_journal(path()).size(), 3);
  EXPECT_FALSE(blocks_->next(0));
}

TEST_F(PipelineOfBlocks, RethrowsWhatTheWriterMet) {
  std::filesystem::create_directories(path() / "0" / "0" / "0" / "0" / "4");  // where block 4 goes
  MemoryVolume input(kVolume);
  EXPECT_THROW(run(input), UserError);
  EXPECT_EQ(read_journal(path()).size(), 4);
  EXPECT_FALSE(blocks_->next(0));
}

TEST_F(PipelineOfBlocks, FinishesTheBlocksUnderWayWhenStopped) {
  MemoryVolume input(kVolume);
  std::atomic<bool> stop = false;
  const PipelineFigures figures =
      run(input, {.on_block = [&](int64_t) { stop = true; }, .should_stop = [&] { return stop.load(); }});
  EXPECT_GE(figures.blocks, 1);
  EXPECT_LT(figures.blocks, tiling_.count());
  EXPECT_EQ(static_cast<size_t>(figures.blocks), read_journal(path()).size());
  EXPECT_FALSE(blocks_->next(0));
}

}  // namespace
}  // namespace tacho
