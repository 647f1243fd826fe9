#include "predict/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/complaint.h"
#include "base/json_values.h"
#include "base/test_folder.h"

namespace tacho {
namespace {

using testing::HasSubstr;

class JournalFiles : public testing::Test {
 protected:
  JournalFiles() { write_identity(output(), {{"model", "unet3d"}, {"block", {4, 5, 6}}}); }
  std::filesystem::path output() const { return folder_.path() / "out.zarr"; }

  TestFolder folder_;
};

TEST_F(JournalFiles, KeepsTheNotesOfAllRanks) {
  Journal(output(), 0).note(7, {100, 0xabcdef01});
  Journal(output(), 1).note(3, {200, 2});
  const std::map<int64_t, DoneBlock> expected = {{3, {200, 2}}, {7, {100, 0xabcdef01}}};
  EXPECT_EQ(read_journal(output()), expected);
}

TEST_F(JournalFiles, ANoteThatWasCutOffDoesNotCountAndHarmsNoLaterOne) {
  Journal(output(), 0).note(1, {10, 1});
  std::ofstream(journal_folder(output()) / "done-0", std::ios::app) << "2 20 0000";
  Journal(output(), 0).note(3, {30, 3});
  const std::map<int64_t, DoneBlock> expected = {{1, {10, 1}}, {3, {30, 3}}};
  EXPECT_EQ(read_journal(output()), expected);
}

TEST_F(JournalFiles, AnotherPredictionIsRefusedWithWhatDiffers) {
  const auto refusal = [&](const Json& identity) {
    return complaint([&] { check_identity(output(), identity); });
  };
  EXPECT_EQ(refusal({{"model", "unet3d"}}), "no complaint");
  EXPECT_THAT(refusal({{"model", "unet3d"}, {"block", {4, 5, 7}}}), HasSubstr("block [4,5,6], not [4,5,7]"));
  EXPECT_THAT(refusal({{"halo", "exact"}}),
              HasSubstr("begun by an older tacho, which does not tell its halo"));
}

TEST_F(JournalFiles, WhatOnlyRoundsOtherwiseIsSaidAndNotRefused) {
  Json identity = {{"model", "unet3d"}, {kRounding, {{"cpu", "a"}, {"threads", 2}}}};
  write_identity(output(), identity);
  EXPECT_EQ(different_rounding(output(), identity), "");
  identity[kRounding]["threads"] = 3;
  EXPECT_EQ(complaint([&] { check_identity(output(), identity); }), "no complaint");
  EXPECT_EQ(different_rounding(output(), identity), "threads 2, not 3");
}

TEST_F(JournalFiles, WhatWasKilledBeforeItSaidWhatItIsHasNotBegun) {
  EXPECT_TRUE(is_begun(output()));
  EXPECT_FALSE(is_begun(folder_.path() / "absent"));
  std::filesystem::remove(journal_folder(output()) / "prediction.json");
  std::ofstream(journal_folder(output()) / "prediction.json.17.tmp") << "{";
  EXPECT_FALSE(is_begun(output()));
  std::ofstream(output() / "thesis.tex") << "text";
  EXPECT_TRUE(is_begun(output()));
  EXPECT_TRUE(is_begun(output() / "thesis.tex"));
}

TEST_F(JournalFiles, AFolderThatIsNoPredictionIsRefused) {
  EXPECT_THROW(check_identity(folder_.path(), {}), UserError);
}

}  // namespace
}  // namespace tacho
