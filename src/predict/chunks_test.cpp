#include "predict/chunks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "base/file.h"
#include "base/test_folder.h"
#include "predict/tiling.h"
#include "volume/pad.h"
#include "volume/zarr_volume.h"

namespace tacho {
namespace {

constexpr int64_t kChannels = 2;
constexpr Point kVolume = {3, 5, 6}, kChunk = {2, 2, 3};

// A block at the far end, of which chunks reach beyond the volume, and values that tell their place.
class BlockOfChunks : public testing::Test {
 protected:
  BlockOfChunks()
      : output_(ZarrOutput::create(folder_.path() / "out.zarr", {.channels = kChannels,
                                                                 .shape = kVolume,
                                                                 .chunk = kChunk,
                                                                 .type = VoxelType::f32,
                                                                 .compression = Compression::none})),
        result_(static_cast<size_t>(kChannels * voxels(box_))) {
    std::iota(result_.begin(), result_.end(), 1.0F);
  }

  std::filesystem::path file(const std::string& index) const {
    return folder_.path() / "out.zarr" / "0" / "0" / index;
  }

  // What the chunk's file must hold at a position inside of it.
  float expected(const Point& chunk, int64_t channel, const Point& at) const {
    const Point size = box_.size();
    Point position;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      position[axis] = chunk[axis] * kChunk[axis] + at[axis];
      if (position[axis] >= kVolume[axis]) return 0;
      position[axis] -= box_.begin[axis];
    }
    const int64_t index = ((channel * size[0] + position[0]) * size[1] + position[1]) * size[2] + position[2];
    return static_cast<float>(index + 1);
  }

  TestFolder folder_;
  const Box box_ = {{2, 0, 0}, {3, 4, 6}};
  ZarrOutput output_;
  std::vector<float> result_;
};

TEST_F(BlockOfChunks, HoldsEachVoxelAtItsPlace) {
  write_block(output_, box_, result_);
  for (const Point& chunk : {Point{1, 0, 0}, Point{1, 0, 1}, Point{1, 1, 0}, Point{1, 1, 1}}) {
    const std::string bytes = read_file(file(fmt::format("{}/{}/{}", chunk[0], chunk[1], chunk[2])));
    std::vector<float> found(static_cast<size_t>(kChannels * voxels(kChunk)));
    ASSERT_EQ(bytes.size(), found.size() * sizeof(float));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    for (int64_t i = 0; i < kChannels * voxels(kChunk); ++i) {
      const Point at = {i / (kChunk[1] * kChunk[2]) % kChunk[0], i / kChunk[2] % kChunk[1], i % kChunk[2]};
      EXPECT_EQ(found[static_cast<size_t>(i)], expected(chunk, i / voxels(kChunk), at)) << i;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(file("1/2")));
}

TEST_F(BlockOfChunks, IsIntactUntilAnyChunkChanges) {
  const DoneBlock done = write_block(output_, box_, result_);
  EXPECT_TRUE(is_intact(output_, box_, done));
  const std::string before = read_file(file("1/1/0"));
  std::string changed = before;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  for (const std::string& content : {changed, before.substr(1)}) {
    write_file_atomically(file("1/1/0"), content);
    EXPECT_FALSE(is_intact(output_, box_, done));
  }
  write_file_atomically(file("1/1/0"), before);
  EXPECT_TRUE(is_intact(output_, box_, done));
  std::filesystem::remove(file("1/0/1"));
  EXPECT_FALSE(is_intact(output_, box_, done));
}

TEST_F(BlockOfChunks, IsNotIntactWhereTwoChunksChangePlaces) {
  const DoneBlock done = write_block(output_, box_, result_);
  std::filesystem::rename(file("1/0/0"), file("a"));
  std::filesystem::rename(file("1/0/1"), file("1/0/0"));
  std::filesystem::rename(file("a"), file("1/0/1"));
  EXPECT_FALSE(is_intact(output_, box_, done));
}

constexpr int kCombinations = 200;
constexpr int64_t kLongest = 7;     // axis of a volume
constexpr int64_t kMostChunks = 8;  // each of which waits for the disk

class RandomOutputs : public testing::Test {
 protected:
  int64_t from_one_to(int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(random_); }

  // Of one volume, block and chunk, which divides the block.
  void draw() {
    do {
      for (size_t axis = 0; axis < kAxes; ++axis) {
        volume_[axis] = from_one_to(kLongest);
        chunk_[axis] = from_one_to(kLongest);
        block_[axis] = chunk_[axis] * from_one_to(3);
      }
    } while (Tiling{volume_, chunk_}.count() > kMostChunks);
  }

  // By file, what changes whenever it is written.
  static std::map<std::filesystem::path, ino_t> written(const std::filesystem::path& output) {
    std::map<std::filesystem::path, ino_t> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(output)) {
      struct stat status = {};
      if (entry.is_regular_file() && stat(entry.path().c_str(), &status) == 0)
        files[entry.path()] = status.st_ino;
    }
    return files;
  }

  std::mt19937 random_{5};
  Point volume_ = {}, block_ = {}, chunk_ = {};
};

// The volume's voxels are numbers that tell their place.
std::vector<float> places(const Box& box, const Point& volume) {
  std::vector<float> all(static_cast<size_t>(voxels(volume))), part(static_cast<size_t>(voxels(box)));
  std::iota(all.begin(), all.end(), 1.0F);
  copy_part(box, whole(volume), all, box, part);
  return part;
}

TEST_F(RandomOutputs, HaveEveryVoxelWrittenOnce) {
  for (int i = 0; i < kCombinations; ++i) {
    draw();
    SCOPED_TRACE(fmt::format("{} in blocks of {} and chunks of {}", to_string(volume_), to_string(block_),
                             to_string(chunk_)));
    const TestFolder folder;
    const std::filesystem::path path = folder.path() / "out.zarr";
    const ZarrOutput output = ZarrOutput::create(
        path, {.shape = volume_, .chunk = chunk_, .type = VoxelType::f32, .compression = Compression::blosc});
    const Tiling tiling{volume_, block_};
    std::vector<int64_t> order(static_cast<size_t>(tiling.count()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random_);
    size_t files = written(path).size();
    for (const int64_t number : order) {
      const auto before = written(path);
      write_block(output, tiling.box(number), places(tiling.box(number), volume_));
      const auto after = written(path);
      EXPECT_TRUE(std::ranges::includes(after, before)) << "block " << number << " writes what another wrote";
    }
    files = written(path).size() - files;
    EXPECT_EQ(files, static_cast<size_t>(Tiling{volume_, chunk_}.count()));

    std::vector<float> found(static_cast<size_t>(voxels(volume_)));
    open_zarr(path, "0")->read(whole(volume_), std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, places(whole(volume_), volume_));
  }
}

}  // namespace
}  // namespace tacho
