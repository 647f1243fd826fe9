#include "results/volume_slice.h"

#include <gtest/gtest.h>

#include "base/json_values.h"
#include "results/example_record.h"
#include "results/record_complaint.h"

namespace tacho {
namespace {

Json record_with_slice() {
  Record record = example_record();
  record.slices = {{.name = "input", .width = 2, .height = 1, .pixels = "Zm8="}};
  return to_json(record);
}

TEST(VolumeSlice, ComesBackAsItWentWithWhatANewerProgramAdded) {
  Json json = record_with_slice();
  json["slices"][0]["colour"] = "red";
  EXPECT_EQ(to_json(record_from_json(json)), json);
}

TEST(VolumeSlice, WithOtherPixelsThanItsSizeSaysIsRefused) {
  Json json = record_with_slice();
  json["slices"][0]["width"] = 3;
  EXPECT_NE(complaint_about(json).find("width x height bytes"), std::string::npos);
  json["slices"][0]["width"] = int64_t{1} << 40;
  EXPECT_NE(complaint_about(json).find("width x height bytes"), std::string::npos);
  json = record_with_slice();
  json["slices"][0]["pixels"] = "<b>=";
  EXPECT_NE(complaint_about(json).find("'slices'"), std::string::npos);
}

}  // namespace
}  // namespace tacho
