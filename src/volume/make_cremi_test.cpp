#include "volume/make_cremi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/test_folder.h"
#include "volume/hdf5_volume.h"
#include "volume/test_voxels.h"
#include "volume/tissue.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

bool go_on(double) { return true; }

TEST(MakeCremi, WritesTheTissueOfItsSeed) {
  const TestFolder folder;
  const fs::path file = folder.path() / "a.h5";
  const Point shape = {18, 40, 150};
  ASSERT_TRUE(make_cremi(file, shape, 3, go_on));

  std::vector<uint8_t> image(static_cast<size_t>(voxels(shape)));
  std::vector<uint64_t> neuron_ids(image.size());
  Tissue(shape, 3).fill(whole(shape), image, neuron_ids);
  const auto raw = open_hdf5(file, kCremiRaw), labels = open_hdf5(file, kCremiNeuronIds);
  EXPECT_EQ(read_all(*raw), bytes_of(image));
  EXPECT_EQ(read_all(*labels), bytes_of(neuron_ids));
  EXPECT_EQ(raw->info().voxel_size->size, (std::array<double, 3>{40, 4, 4}));
  EXPECT_EQ(labels->info().voxel_size->unit, "nanometer");
}

TEST(MakeCremi, LeavesNothingWhenItIsStopped) {
  const TestFolder folder;
  EXPECT_FALSE(make_cremi(folder.path() / "a.h5", {100, 300, 300}, 0, [](double done) { return done == 0; }));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(MakeCremi, SaysWhatCannotBeWritten) {
  const TestFolder folder;
  const fs::path file = folder.path() / "absent" / "a.h5";
  EXPECT_THAT(
      [&] {
        make_cremi(file, {1, 1, 1}, 0, go_on);
      },
      testing::ThrowsMessage<UserError>(testing::HasSubstr("cannot write " + file.string())));
}

}  // namespace
}  // namespace tacho
