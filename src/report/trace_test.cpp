#include "report/trace.h"

#include <gtest/gtest.h>

#include "base/json_values.h"
#include "report/example_profile.h"

namespace tacho {
namespace {

TEST(Trace, NamesTheProcessAndHasACompleteEventALayer) {
  const Json events = Json::parse(format_trace(example_profile()))["traceEvents"];
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0]["ph"], "M");
  EXPECT_EQ(events[0]["name"], "process_name");
  EXPECT_EQ(events[1]["name"], "thread_name");
  const Json& first = events[2];
  EXPECT_EQ(first["ph"], "X");
  EXPECT_EQ(first["name"], "conv1");
  EXPECT_EQ(first["cat"], "forward");
  EXPECT_EQ(first["args"]["kernel"], "reorder + direct");
  EXPECT_EQ(first["args"]["bytes"], 100'000'000);
}

TEST(Trace, CountsInMicroseconds) {
  const Json first = Json::parse(format_trace(example_profile()))["traceEvents"][2];
  EXPECT_EQ(first["ts"], 500);
  EXPECT_EQ(first["dur"], 39'000);
  EXPECT_NEAR(first["args"]["gflops"].get<double>(), 2e9 / 39e-3 / 1e9, 1e-9);
}

TEST(Trace, LeavesOutARateThatALayerDoesNotHave) {
  const Json pool = Json::parse(format_trace(example_profile()))["traceEvents"][3];
  EXPECT_FALSE(pool["args"].contains("gflops"));
}

}  // namespace
}  // namespace tacho
