#include "volume/hdf5_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/test_folder.h"
#include "volume/copy_box.h"
#include "volume/hdf5_type.h"
#include "volume/test_voxels.h"

// The leak sanitizer asks for it: HDF5 loses memory of its own where a file is damaged.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}  // NOLINT(bugprone-reserved-identifier)

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr Point kFileShape = {5, 6, 7};

class Hdf5Volume : public testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "a.h5"; }

  struct Stored {
    std::vector<hsize_t> shape = {5, 6, 7}, chunk = {};
    hid_t type = -1;
  };

  // A file with the dataset /volumes/raw.
  void write(const Bytes& voxels, hid_t memory_type, const Stored& stored) const {
    const Hdf5Handle made(H5Fcreate(file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const auto rank = static_cast<int>(stored.shape.size());
    const Hdf5Handle space(H5Screate_simple(rank, stored.shape.data(), nullptr), H5Sclose);
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
        creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    if (!stored.chunk.empty()) {
      H5Pset_chunk(creation.id(), rank, stored.chunk.data());
      H5Pset_deflate(creation.id(), 1);
    }
    const hid_t type = stored.type < 0 ? memory_type : stored.type;
    const Hdf5Handle dataset(
        H5Dcreate2(made.id(), kCremiRaw, type, space.id(), links.id(), creation.id(), H5P_DEFAULT), H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, voxels.data()), 0);
  }

  std::string problem(const std::string& dataset = kCremiRaw) const {
    try {
      read_all(*open_hdf5(file(), dataset));
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }

 private:
  QuietHdf5 quiet_;
  TestFolder folder_;
};

TEST_F(Hdf5Volume, ReadsEveryTypeInOnePieceAndInChunks) {
  for (const VoxelType type : kVoxelTypes) {
    for (const auto& chunk : {std::vector<hsize_t>{}, std::vector<hsize_t>{2, 4, 3}}) {
      const Bytes voxels = voxels_of(type, tacho::voxels(kFileShape));
      write(voxels, native_type(type), {.chunk = chunk});
      const auto volume = open_hdf5(file(), kCremiRaw);
      EXPECT_EQ(volume->info().shape, kFileShape);
      EXPECT_EQ(volume->info().type, type);
      EXPECT_EQ(volume->info().chunk.has_value(), !chunk.empty());
      EXPECT_EQ(read_all(*volume), voxels) << name_of(type);
      const Box box = {{1, 3, 2}, {4, 5, 7}};
      Bytes part(static_cast<size_t>(tacho::voxels(box)) * size_of(type));
      copy_box(box, voxels, whole(kFileShape), part, box, size_of(type));
      EXPECT_EQ(read_box(*volume, box), part) << name_of(type);
    }
  }
}

TEST_F(Hdf5Volume, TurnsTheOtherByteOrder) {
  const Bytes voxels = voxels_of(VoxelType::u16, 210);
  write(voxels, H5T_NATIVE_UINT16, {.type = H5T_STD_U16BE});
  EXPECT_EQ(read_all(*open_hdf5(file(), "volumes/raw")), voxels);
}

TEST_F(Hdf5Volume, RefusesWhatIsNoVolume) {
  write(voxels_of(VoxelType::u8, 210), H5T_NATIVE_UINT8, {.shape = {10, 21}});
  EXPECT_THAT(problem(), AllOf(HasSubstr("a.h5:/volumes/raw: has 2 axes (10x21 uint8)")));
  write(Bytes(210), H5T_NATIVE_INT8, {});
  EXPECT_THAT(problem(), HasSubstr("is int8; tacho reads uint8, uint16"));
  write(Bytes(210 * 8), H5T_NATIVE_DOUBLE, {});
  EXPECT_THAT(problem(), HasSubstr("is float64; tacho reads"));
}

TEST_F(Hdf5Volume, SaysWhatThereIsInstead) {
  write(Bytes(210), H5T_NATIVE_UINT8, {});
  EXPECT_THAT(
      problem("/raw"),
      HasSubstr("a.h5:/raw: there is no such dataset; the file's datasets: /volumes/raw (5x6x7 uint8)"));
  EXPECT_THAT(problem("/volumes"), HasSubstr("is a group; the file's datasets: /volumes/raw"));
  EXPECT_THAT(problem("/volumes/raw/deeper"), HasSubstr("there is no such dataset"));
}

TEST_F(Hdf5Volume, RefusesWhatIsNoHdf5OrCutOff) {
  write_file_atomically(file(), "text");
  EXPECT_THAT(problem(), HasSubstr("a.h5: is no HDF5 file"));
  write(voxels_of(VoxelType::u8, 210), H5T_NATIVE_UINT8, {.chunk = {2, 4, 3}});
  const auto size = fs::file_size(file());
  fs::resize_file(file(), size / 2);
  EXPECT_THAT(problem(), AllOf(HasSubstr("a.h5: cannot be opened: truncated file")));
}

TEST_F(Hdf5Volume, AChunkThatCannotBeDecompressedIsAnError) {
  const Bytes voxels = voxels_of(VoxelType::u8, 210);
  write(voxels, H5T_NATIVE_UINT8, {.chunk = {5, 6, 7}});
  std::string content = read_file(file());
  // The chunk begins with zlib's two bytes for level 1.
  const size_t chunk = content.rfind("\x78\x01");
  ASSERT_NE(chunk, std::string::npos);
  content.replace(chunk + 2, 8, 8, '\xff');
  write_file_atomically(file(), content);
  EXPECT_THAT(problem(), AllOf(HasSubstr("a.h5:/volumes/raw: cannot read the 5x6x7 voxels at 0,0,0: "),
                               testing::Not(HasSubstr("\n"))));
}

TEST_F(Hdf5Volume, SurvivesFilesThatAreDamagedAnywhere) {
  write(voxels_of(VoxelType::u8, 210), H5T_NATIVE_UINT8, {.chunk = {2, 4, 3}});
  const std::string content = read_file(file());
  const Random random(3);
  for (uint64_t i = 0; i < 300; ++i) {
    std::string damaged = content;
    damaged[random.bits(2 * i) % content.size()] = static_cast<char>(random.bits(2 * i + 1));
    std::ofstream(file(), std::ios::binary) << damaged;
    EXPECT_THAT(problem(), testing::Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace tacho
