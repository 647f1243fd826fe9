#include "volume/zarr_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/json_values.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Json array_json() {
  return {{"zarr_format", 2},      {"shape", {5, 6, 7}}, {"chunks", {2, 3, 4}}, {"dtype", "<f4"},
          {"compressor", nullptr}, {"fill_value", 0.5},  {"order", "C"},        {"filters", nullptr}};
}

std::string problem_with(const char* entry, Json value) {
  Json json = array_json();
  json[entry] = std::move(value);
  try {
    parse_zarr_array(json, "a.zarr/.zarray");
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

template<typename T>
T fill_value(const char* dtype, Json value) {
  Json json = array_json();
  json["dtype"] = dtype;
  json["fill_value"] = std::move(value);
  T number;
  const ZarrArray array = parse_zarr_array(json, "");
  EXPECT_EQ(array.fill_value.size(), sizeof(T));
  std::memcpy(&number, array.fill_value.data(), sizeof(T));
  return number;
}

TEST(ZarrArray, IsReadFromItsJson) {
  const ZarrArray array = parse_zarr_array(array_json(), "");
  EXPECT_THAT(array.shape, ElementsAre(5, 6, 7));
  EXPECT_THAT(array.chunk, ElementsAre(2, 3, 4));
  EXPECT_EQ(array.type, VoxelType::f32);
  EXPECT_EQ(array.separator, '.');
  EXPECT_FALSE(array.swapped);
  EXPECT_EQ(chunk_bytes(array), 96);
}

TEST(ZarrArray, IsReadBackFromWhatIsWritten) {
  for (const VoxelType type : kVoxelTypes) {
    for (const Compression compression : {Compression::none, Compression::gzip, Compression::blosc}) {
      const ZarrArray written = {{1, 5, 6, 7}, {1, 2, 3, 4}, type, false, compression, '/', {}};
      const ZarrArray read = parse_zarr_array(zarr_array_json(written), "");
      EXPECT_EQ(read.shape, written.shape);
      EXPECT_EQ(read.chunk, written.chunk);
      EXPECT_EQ(read.type, type);
      EXPECT_EQ(read.compression, compression);
      EXPECT_EQ(read.separator, '/');
      EXPECT_FALSE(read.swapped);
    }
  }
}

TEST(ZarrArray, FillValuesAreOfTheArraysType) {
  EXPECT_EQ(fill_value<uint8_t>("|u1", 255), 255);
  EXPECT_EQ(fill_value<uint64_t>("<u8", UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(fill_value<int64_t>(">i8", -3), -3);
  EXPECT_EQ(fill_value<uint16_t>("<u2", nullptr), 0);
  EXPECT_EQ(fill_value<float>("<f4", 0.5), 0.5f);
  EXPECT_TRUE(std::isnan(fill_value<float>("<f4", "NaN")));
  EXPECT_EQ(fill_value<float>("<f4", "-Infinity"), -INFINITY);
}

TEST(ZarrArray, RefusesWhatIsHostileOrUnknown) {
  EXPECT_THAT(problem_with("zarr_format", 3), AllOf(HasSubstr("a.zarr/.zarray: 'zarr_format' is 3")));
  EXPECT_THAT(problem_with("shape", {5, 6}), HasSubstr("differ in rank"));
  EXPECT_THAT(problem_with("shape", {5, 0, 7}), HasSubstr("must be positive"));
  EXPECT_THAT(problem_with("chunks", {5, -6, 7}), HasSubstr("must be positive"));
  EXPECT_THAT(problem_with("shape", {5, "6", 7}), HasSubstr("'shape' must be a whole number"));
  EXPECT_THAT(problem_with("shape", "5"), HasSubstr("'shape' must be a list"));
  EXPECT_THAT(problem_with("shape", nullptr), HasSubstr("'shape' must be a list"));
  EXPECT_THAT(problem_with("shape", {1LL << 40, 1LL << 40, 7}), HasSubstr("more than can be counted"));
  EXPECT_THAT(problem_with("shape", {1e30, 6, 7}), HasSubstr("whole number"));
  EXPECT_THAT(problem_with("chunks", {1 << 30, 1 << 30, 1 << 30}), HasSubstr("at most 2 GiB"));
  EXPECT_THAT(problem_with("chunks", {1024, 1024, 512}), HasSubstr("at most 2 GiB"));
  EXPECT_THAT(problem_with("dtype", "<f8"), HasSubstr("tacho reads uint8, uint16"));
  EXPECT_THAT(problem_with("dtype", Json::array({{"a", "<f4"}})), HasSubstr("'dtype' is"));
  EXPECT_THAT(problem_with("order", "F"), HasSubstr("'order' is \"F\""));
  EXPECT_THAT(problem_with("filters", Json::array({{{"id", "delta"}}})), HasSubstr("tacho reads none"));
  EXPECT_THAT(problem_with("compressor", {{"id", "lzma"}}),
              HasSubstr("'compressor' is \"lzma\"; tacho reads none, zlib"));
  EXPECT_THAT(problem_with("compressor", {{"id", 5}}), HasSubstr("'compressor' is 5"));
  EXPECT_THAT(problem_with("compressor", "zlib"), HasSubstr("'compressor' is \"zlib\""));
  EXPECT_THAT(problem_with("dimension_separator", "../"), HasSubstr("instead of"));
  EXPECT_THAT(problem_with("fill_value", "much"), HasSubstr("'fill_value' must be a number"));
}

TEST(OmeDatasets, HaveTheSizeOfTheirVoxels) {
  const VoxelSize size = {{40, 4, 4.5}, "nanometer"};
  const auto datasets = parse_ome_datasets(ome_json("a", {"0", size}), "");
  ASSERT_EQ(datasets.size(), 1U);
  EXPECT_EQ(datasets[0].path, "0");
  EXPECT_EQ(datasets[0].voxel_size->size, size.size);
  EXPECT_EQ(datasets[0].voxel_size->unit, "nanometer");
}

TEST(OmeDatasets, TheImagesOwnScaleCountsToo) {
  Json json = ome_json("a", {"0", VoxelSize{{40, 4, 4}, "nanometer"}});
  json["multiscales"][0]["coordinateTransformations"] =
      Json::array({{{"type", "scale"}, {"scale", {1, 2, 3, 0.5}}}});
  EXPECT_THAT(parse_ome_datasets(json, "").at(0).voxel_size->size, ElementsAre(80, 12, 2));
}

TEST(OmeDatasets, StayInsideTheGroup) {
  for (const char* path : {"../b.zarr/0", "/etc", "a/../../b", ""}) {
    EXPECT_THAT(
        [&] {
          parse_ome_datasets(ome_json("a", {path, {}}), "f");
        },
        testing::ThrowsMessage<UserError>(HasSubstr("instead of one inside")))
        << path;
  }
}

TEST(OmeDatasets, AreNoneWhereTheAttributesSayOtherThings) {
  EXPECT_TRUE(parse_ome_datasets(Json::object(), "").empty());
  EXPECT_TRUE(parse_ome_datasets({{"multiscales", 5}}, "").empty());
  EXPECT_TRUE(parse_ome_datasets({{"multiscales", Json::array({1})}}, "").empty());
}

TEST(Resolution, IsThreePositiveNumbers) {
  EXPECT_THAT(parse_resolution({{"resolution", {40, 4, 4}}})->size, ElementsAre(40, 4, 4));
  EXPECT_FALSE(parse_resolution({{"resolution", {40, 4}}}));
  EXPECT_FALSE(parse_resolution({{"resolution", {40, 4, 0}}}));
  EXPECT_FALSE(parse_resolution({{"resolution", "40"}}));
  EXPECT_FALSE(parse_resolution(Json::object()));
}

}  // namespace
}  // namespace tacho
