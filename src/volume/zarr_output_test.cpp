#include "volume/zarr_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/test_folder.h"
#include "volume/test_voxels.h"
#include "volume/zarr_volume.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Point kShape = {5, 6, 7}, kChunk = {2, 4, 3};

class ZarrOutputTest : public testing::Test {
 protected:
  fs::path folder() const { return folder_.path() / "out.zarr"; }

  static ZarrDescription description(VoxelType type = VoxelType::f32,
                                     Compression compression = Compression::blosc) {
    return {.channels = 1,
            .shape = kShape,
            .chunk = kChunk,
            .type = type,
            .compression = compression,
            .voxel_size = VoxelSize{{40, 4, 4}, "nanometer"},
            .name = "out"};
  }

  static int64_t count_in(const ZarrOutput& output, const Point& index) {
    return output.description().channels * voxels(output.box_of(index));
  }

  // With voxels that depend on the chunk.
  static ZarrOutput::Written write(const ZarrOutput& output, const Point& index) {
    const auto seed = static_cast<uint64_t>(index[0] * 100 + index[1] * 10 + index[2]);
    return output.write_chunk(index, voxels_of(output.description().type, count_in(output, index), seed));
  }

  static void write_all(const ZarrOutput& output) {
    const Point count = output.chunks();
    for (int64_t z = 0; z < count[0]; ++z) {
      for (int64_t y = 0; y < count[1]; ++y) {
        for (int64_t x = 0; x < count[2]; ++x) write(output, {z, y, x});
      }
    }
  }

 private:
  TestFolder folder_;
};

TEST_F(ZarrOutputTest, WhatIsMissingOfItsMetadataIsWritten) {
  ZarrOutput::create(folder(), description());
  for (const char* name : {".zgroup", ".zattrs", "0/.zarray"}) {
    const std::string content = read_file(folder() / name);
    fs::remove(folder() / name);
    ZarrOutput::complete(folder(), description());
    EXPECT_EQ(read_file(folder() / name), content);
  }
  EXPECT_THROW(ZarrOutput::complete(folder(), description(VoxelType::u8)), UserError);
}

TEST_F(ZarrOutputTest, EveryTypeAndCompressionIsReadBack) {
  for (const VoxelType type : {VoxelType::u8, VoxelType::f32}) {
    for (const char* name : {"none", "zlib", "gzip", "zstd", "blosc"}) {
      fs::remove_all(folder());
      const ZarrOutput output = ZarrOutput::create(folder(), description(type, parse_compression(name)));
      EXPECT_EQ(output.chunks(), (Point{3, 2, 3}));
      write_all(output);
      const auto volume = open_zarr(folder(), "");
      EXPECT_EQ(volume->info().voxel_size->size, (std::array<double, 3>{40, 4, 4}));
      EXPECT_EQ(volume->info().type, type);
      for (const Point& index : {Point{0, 0, 0}, Point{2, 1, 2}, Point{1, 1, 0}}) {
        const auto seed = static_cast<uint64_t>(index[0] * 100 + index[1] * 10 + index[2]);
        EXPECT_EQ(read_box(*volume, output.box_of(index)), voxels_of(type, count_in(output, index), seed))
            << name;
      }
    }
  }
}

TEST_F(ZarrOutputTest, ChannelsFollowEachOtherInAChunkThatIsPaddedWithZeros) {
  ZarrDescription two = description(VoxelType::u8, Compression::none);
  two.channels = 2;
  two.shape = {1, 1, 4};
  two.chunk = {1, 2, 3};
  const ZarrOutput output = ZarrOutput::create(folder(), two);
  output.write_chunk({0, 0, 0}, bytes_of<uint8_t>({1, 2, 3, 4, 5, 6}));
  output.write_chunk({0, 0, 1}, bytes_of<uint8_t>({7, 8}));
  EXPECT_EQ(read_file(folder() / "0/0/0/0/0"), std::string("\1\2\3\0\0\0\4\5\6\0\0\0", 12));
  EXPECT_EQ(read_file(folder() / "0/0/0/0/1"), std::string("\7\0\0\0\0\0\10\0\0\0\0\0", 12));
}

TEST_F(ZarrOutputTest, TellsWhatAChunksFileIs) {
  const ZarrOutput output = ZarrOutput::create(folder(), description());
  EXPECT_FALSE(output.stored({1, 1, 1}));
  const ZarrOutput::Written written = write(output, {1, 1, 1});
  EXPECT_EQ(output.stored({1, 1, 1}), written);
  EXPECT_EQ(written.bytes, static_cast<int64_t>(fs::file_size(folder() / "0/0/1/1/1")));
  EXPECT_EQ(write(output, {1, 1, 1}), written);

  fs::resize_file(folder() / "0/0/1/1/1", static_cast<uintmax_t>(written.bytes) - 1);
  EXPECT_NE(output.stored({1, 1, 1})->crc, written.crc);
}

TEST_F(ZarrOutputTest, ThreadsWriteChunksOfTheSameFolderAtOnce) {
  const ZarrOutput output = ZarrOutput::create(folder(), description());
  std::vector<std::thread> threads;
  for (int64_t x = 0; x < 3; ++x) {
    threads.emplace_back([&output, x] {
      for (int64_t z = 0; z < 3; ++z) write(output, {z, 0, x});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int64_t x = 0; x < 3; ++x) {
    for (int64_t z = 0; z < 3; ++z) EXPECT_TRUE(output.stored({z, 0, x}));
  }
}

TEST_F(ZarrOutputTest, IsNotMadeWhereSomethingIs) {
  fs::create_directory(folder());
  ZarrOutput::create(folder(), description());
  EXPECT_THAT([&] { ZarrOutput::create(folder(), description()); },
              ThrowsMessage<UserError>(HasSubstr("not empty")));
  const fs::path file = folder() / ".zgroup";
  EXPECT_THAT([&] { ZarrOutput::create(file, description()); },
              ThrowsMessage<UserError>(HasSubstr("is a file")));
  EXPECT_THAT([&] { ZarrOutput::create(file / "below", description()); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("cannot make"), HasSubstr("File exists"))));
}

TEST_F(ZarrOutputTest, IsOpenedOnlyAsWhatItIs) {
  ZarrOutput::create(folder(), description());
  EXPECT_EQ(ZarrOutput::open(folder(), description()).description().shape, kShape);
  const auto refuses = [&](const ZarrDescription& expected, const char* words) {
    EXPECT_THAT([&] { ZarrOutput::open(folder(), expected); }, ThrowsMessage<UserError>(HasSubstr(words)));
  };
  ZarrDescription other = description();
  other.chunk[2] = 4;
  refuses(other, "out.zarr/0/.zarray: 'chunks' is [1,2,4,3], not [1,2,4,4]");
  refuses(description(VoxelType::u8), "'dtype' is \"<f4\", not \"|u1\"");
  refuses(description(VoxelType::f32, Compression::none), "'compressor' is");
  other = description();
  other.voxel_size->size[0] = 50;
  refuses(other, "out.zarr/.zattrs: 'datasets' is");
  other = description();
  other.name = "another";
  EXPECT_NO_THROW(ZarrOutput::open(folder(), other));
  fs::remove(folder() / ".zgroup");
  refuses(description(), ".zgroup: No such file");
}

TEST_F(ZarrOutputTest, RefusesChunksThatNoReaderTakes) {
  ZarrDescription large = description();
  large.chunk = {1024, 1024, 1024};
  EXPECT_THAT([&] { ZarrOutput::create(folder(), large); },
              ThrowsMessage<UserError>(HasSubstr("at most 2 GiB")));
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(ZarrOutputTest, AChunkThatCannotBeWrittenLeavesNothing) {
  const ZarrOutput output = ZarrOutput::create(folder(), description());
  write_file_atomically(folder() / "0/0", "in the way");
  EXPECT_THAT(
      [&] {
        write(output, {0, 0, 0});
      },
      ThrowsMessage<UserError>(HasSubstr("cannot make the directory")));
  fs::remove(folder() / "0/0");
  fs::create_directories(folder() / "0/0/0/0/0/in the way");
  EXPECT_THAT([&] { write(output, {0, 0, 0}); }, ThrowsMessage<UserError>(HasSubstr("Is a directory")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "0/0/0/0"), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace tacho
