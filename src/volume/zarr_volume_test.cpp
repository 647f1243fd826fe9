#include "volume/zarr_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "base/test_folder.h"
#include "volume/copy_box.h"
#include "volume/test_voxels.h"
#include "volume/zarr_metadata.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr Point kInputShape = {5, 6, 7}, kInputChunk = {2, 4, 3};

class ZarrVolume : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  // An array with the voxels 0, 1, 2... in uncompressed chunks.
  void write_array(const fs::path& folder, std::vector<int64_t> leading = {}, char separator = '.',
                   const char* dtype = "<u2") const {
    ZarrArray array = {leading, leading, VoxelType::u16, false, Compression::none, separator, {}};
    array.shape.insert(array.shape.end(), kInputShape.begin(), kInputShape.end());
    array.chunk.insert(array.chunk.end(), kInputChunk.begin(), kInputChunk.end());
    Json json = zarr_array_json(array);
    json["dtype"] = dtype;
    json["fill_value"] = 9;
    make_folders(folder);
    write_file_atomically(folder / ".zarray", to_text(json));
    std::string prefix;
    for (size_t i = 0; i < leading.size(); ++i) prefix += fmt::format("0{}", separator);
    for (int64_t z = 0; z < 3; ++z) {
      for (int64_t y = 0; y < 2; ++y) {
        for (int64_t x = 0; x < 3; ++x)
          write_chunk(folder / fmt::format("{}{}{}{}{}{}", prefix, z, separator, y, separator, x), {z, y, x});
      }
    }
  }

  void write_chunk(const fs::path& file, const Point& index) const {
    Box cell;
    for (size_t i = 0; i < 3; ++i)
      cell.begin[i] = index[i] * kInputChunk[i], cell.end[i] = cell.begin[i] + kInputChunk[i];
    Bytes chunk(static_cast<size_t>(voxels(cell)) * sizeof(uint16_t));
    copy_box(intersection(cell, whole(kInputShape)), all(), whole(kInputShape), chunk, cell,
             sizeof(uint16_t));
    make_folders(file.parent_path());
    write_file_atomically(file, [&](const ByteSink& sink) { sink(chunk); });
  }

  static Bytes all() {
    std::vector<uint16_t> values(static_cast<size_t>(voxels(kInputShape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
    return bytes_of(values);
  }

  static std::string problem(const fs::path& folder, const char* path = "") {
    try {
      read_all(*open_zarr(folder, path));
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }

 private:
  TestFolder folder_;
};

TEST_F(ZarrVolume, ReadsEveryBoxOfAnArray) {
  write_array(at("a.zarr"));
  const auto volume = open_zarr(at("a.zarr"), "");
  EXPECT_EQ(volume->info().shape, kInputShape);
  EXPECT_EQ(volume->info().chunk, kInputChunk);
  EXPECT_EQ(volume->info().name, at("a.zarr").string());
  EXPECT_EQ(read_all(*volume), all());
  for (const Box& box : {Box{{0, 0, 0}, {1, 1, 1}}, Box{{1, 3, 2}, {4, 5, 7}}, Box{{4, 5, 6}, {5, 6, 7}}}) {
    Bytes expected(static_cast<size_t>(voxels(box)) * sizeof(uint16_t));
    copy_box(box, all(), whole(kInputShape), expected, box, sizeof(uint16_t));
    EXPECT_EQ(read_box(*volume, box), expected);
  }
}

TEST_F(ZarrVolume, ReadsEachChunkOnceWhileTheyFit) {
  write_array(at("a.zarr"));
  const auto volume = open_zarr(at("a.zarr"), "");
  read_all(*volume);
  for (const auto& entry : fs::directory_iterator(at("a.zarr"))) fs::remove(entry.path());
  EXPECT_EQ(read_all(*volume), all());
}

TEST_F(ZarrVolume, ReadsWithoutRoomForASingleChunk) {
  write_array(at("a.zarr"));
  EXPECT_EQ(read_all(*open_zarr(at("a.zarr"), "", 1)), all());
}

TEST_F(ZarrVolume, SkipsLeadingAxesOfOne) {
  write_array(at("a.zarr"), {1, 1}, '/');
  EXPECT_EQ(read_all(*open_zarr(at("a.zarr"), "")), all());
}

TEST_F(ZarrVolume, SwapsTheOtherByteOrder) {
  write_array(at("a.zarr"), {}, '.', ">u2");
  Bytes swapped = all();
  for (size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  EXPECT_EQ(read_all(*open_zarr(at("a.zarr"), "")), swapped);
}

TEST_F(ZarrVolume, ChunksThatAreAbsentHaveTheFillValue) {
  write_array(at("a.zarr"));
  fs::remove(at("a.zarr/1.0.2"));
  const auto volume = open_zarr(at("a.zarr"), "");
  EXPECT_EQ(read_box(*volume, {{2, 0, 6}, {3, 2, 7}}), bytes_of<uint16_t>({9, 9}));
  EXPECT_EQ(read_box(*volume, {{1, 0, 6}, {2, 1, 7}}), bytes_of<uint16_t>({48}));
}

TEST_F(ZarrVolume, TheFirstArrayOfAnOmeGroupIsMeant) {
  write_array(at("a.zarr/raw"));
  const VoxelSize size = {{40, 4, 4}, "nanometer"};
  write_file_atomically(at("a.zarr/.zattrs"), to_text(ome_json("a", {"raw", size})));
  for (const auto& [path, name] :
       {std::pair("", ":/raw"), std::pair("/raw", ":/raw"), std::pair("raw/", ":/raw")}) {
    const auto volume = open_zarr(at("a.zarr"), path);
    EXPECT_EQ(volume->info().name, at("a.zarr").string() + name);
    ASSERT_TRUE(volume->info().voxel_size) << path;
    EXPECT_EQ(volume->info().voxel_size->size, size.size);
    EXPECT_EQ(read_all(*volume), all());
  }
}

TEST_F(ZarrVolume, AGroupThatIsNoImageListsItsArrays) {
  write_array(at("a.zarr/volumes/raw"));
  write_file_atomically(at("a.zarr/.zgroup"), "{}");
  write_file_atomically(at("a.zarr/volumes/.zgroup"), "{}");
  EXPECT_THAT(problem(at("a.zarr")),
              AllOf(HasSubstr("is a group"), HasSubstr("/volumes/raw ([5,6,7] \"<u2\")")));
  EXPECT_THAT(problem(at("a.zarr"), "/volumes/row"), HasSubstr("no such array"));
}

TEST_F(ZarrVolume, DamagedChunksAreNamed) {
  write_array(at("a.zarr"));
  fs::resize_file(at("a.zarr/1.0.2"), 5);
  EXPECT_THAT(problem(at("a.zarr")),
              AllOf(HasSubstr("a.zarr/1.0.2: the chunk is damaged"), HasSubstr("5 bytes where 48")));
  fs::resize_file(at("a.zarr/1.0.2"), 50'000'000);
  EXPECT_THAT(problem(at("a.zarr")), HasSubstr("a.zarr/1.0.2: the chunk has 50000000 bytes"));
  fs::remove(at("a.zarr/1.0.2"));
  fs::create_directory(at("a.zarr/1.0.2"));
  EXPECT_THAT(problem(at("a.zarr")), HasSubstr("a.zarr/1.0.2"));
}

TEST_F(ZarrVolume, MalformedMetadataAreRefusedInOneLine) {
  write_array(at("a.zarr"));
  for (const char* text : {"", "{", "[]", "5", "\"a\nb\"", "{\"zarr_format\": 2}", "\xff\xfe"}) {
    write_file_atomically(at("a.zarr/.zarray"), text);
    EXPECT_THAT(problem(at("a.zarr")), AllOf(HasSubstr("a.zarr/.zarray: "), testing::Not(HasSubstr("\n"))))
        << text;
  }
}

TEST_F(ZarrVolume, OtherFoldersAreRefused) {
  fs::create_directory(at("empty"));
  EXPECT_THAT(problem(at("empty")), HasSubstr("neither .zarray nor .zgroup"));
  write_file_atomically(at("empty/zarr.json"), "{}");
  EXPECT_THAT(problem(at("empty")), HasSubstr("zarr v3"));
}

TEST_F(ZarrVolume, ArraysThatAreNoVolumesAreRefused) {
  write_array(at("a.zarr"), {2});
  EXPECT_THAT(problem(at("a.zarr")), AllOf(HasSubstr("[2,5,6,7]"), HasSubstr("one channel")));
}

}  // namespace
}  // namespace tacho
