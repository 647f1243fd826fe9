#include "forecast/device_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_values.h"
#include "results/example_record.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

const std::vector<int> kCounts = {1, 2, 4};
const Connections kNetwork = {.between_nodes = {.bytes_per_s = 1.25e9, .latency_s = 25e-6}};

DevicePass trained_pass() {
  Record record = example_record("0123456789abcdef");
  record.mode = "train";
  record.forward_ms = 30;
  record.backward_ms = 60;
  record.update_ms = 10;
  record.buckets = {{.bytes = 1'250'000, .ready_ms = 60}};
  return device_pass(record, 0).value();
}

TEST(DeviceTable, EveryRowIsMarkedSimulatedUnderWhatItRestsOn) {
  const std::vector<DevicePass> passes = {trained_pass()};
  const std::string text = format_predicted_steps(passes, kCounts, kNetwork, Format::md);
  EXPECT_THAT(text, HasSubstr("bench1: model resnet18, mode train, engine native"));
  EXPECT_THAT(text, HasSubstr("simulated from record 01234567: 3 passes"));
  EXPECT_THAT(text, HasSubstr("10Gbit,25us"));
  const Json rows = Json::parse(format_predicted_steps(passes, kCounts, kNetwork, Format::json));
  ASSERT_EQ(rows.size(), 3u);
  for (const Json& row : rows) EXPECT_EQ(row["verdict"], "simulated");
  EXPECT_NEAR(rows[1]["exposed_allreduce_ms"], 1.05, 1e-9);
  EXPECT_NEAR(rows[1]["efficiency_percent"], 100 * rows[1]["speedup"].get<double>() / 2, 1e-9);
}

TEST(DeviceTable, SaysThatItsBasisIsNoisy) {
  DevicePass pass = trained_pass();
  pass.record.judgement.verdict = Verdict::noisy;
  EXPECT_THAT(format_predicted_steps({&pass, 1}, kCounts, kNetwork, Format::md),
              HasSubstr("from record 01234567 (noisy): "));
}

TEST(DeviceTable, SaysWhatIsAssumedOfBucketsAndOfANode) {
  DevicePass pass = trained_pass();
  pass.buckets_assumed = true;
  Connections nodes = kNetwork;
  nodes.devices_per_node = 8;
  const auto text = [&] { return format_predicted_steps({&pass, 1}, kCounts, nodes, Format::md); };
  EXPECT_THAT(text(), HasSubstr("assumed to fill at an even rate"));
  EXPECT_THAT(text(), HasSubstr("8 devices a node, within it free, as nothing was measured"));
  pass.record.system.speeds = {{.threads = 1, .bandwidth_gbs = 10}, {.threads = 2, .bandwidth_gbs = 16}};
  EXPECT_THAT(text(), HasSubstr("within it 16Gbit,0us, the memory's speed shared out"));
  nodes.within_node = NetworkSpeed{.bytes_per_s = 1.25e10, .latency_s = 1e-6};
  EXPECT_THAT(text(), HasSubstr("within it 100Gbit,1us, each bucket"));
}

TEST(DeviceTable, TheMemorysSpeedIsSharedOutAmongTheDevicesOfANode) {
  DevicePass pass = trained_pass();
  pass.record.system.speeds = {{.threads = 2, .bandwidth_gbs = 16}};
  Connections nodes = kNetwork;
  nodes.devices_per_node = 8;
  EXPECT_DOUBLE_EQ(at_memory_speed(nodes, pass.record.system).within_node->bytes_per_s, 2e9);
  const Json rows = Json::parse(format_predicted_steps({&pass, 1}, kCounts, nodes, Format::json));
  EXPECT_NEAR(rows[1]["allreduce_ms"], 1.25e6 / 2e9 * 1e3, 1e-9);
}

TEST(SimulatedRecords, AreCompleteButForTheirOriginAndNeverOfOneDevice) {
  const std::vector<DevicePass> passes = {trained_pass()};
  std::vector<Record> records = simulated_records(passes, kCounts, kNetwork);
  ASSERT_EQ(records.size(), 2u);
  const PredictedStep step = predict_step(passes[0], 2, kNetwork);
  EXPECT_EQ(records[0].devices, 2);
  EXPECT_EQ(records[0].nodes, 2);
  EXPECT_EQ(records[0].engine, "native");
  EXPECT_EQ(records[0].system.name, "bench1");
  EXPECT_EQ(records[0].median_ms, step.step_ms);
  EXPECT_EQ(records[0].images_per_s, step.images_per_s);
  EXPECT_TRUE(records[0].samples_ms.empty());
  EXPECT_EQ(records[0].judgement.verdict, Verdict::simulated);
  EXPECT_EQ(records[0].judgement.reason, "from record 0123456789abcdef over 10Gbit,25us");
  records[0].id = "1";
  records[0].time = "2026-11-15T12:00:00Z";
  EXPECT_EQ(record_from_json(to_json(records[0])).judgement.verdict, Verdict::simulated);
}

}  // namespace
}  // namespace tacho
