#include <gtest/gtest.h>

#include <set>

#include "base/json_values.h"
#include "capture/bench_record.h"
#include "results/fields.h"
#include "results/record_json.h"

namespace tacho {
namespace {

const Case kCase = {.model = "resnet18",
                    .mode = Mode::train,
                    .execution = {.engine = "native", .threads = 2},
                    .batch = 16,
                    .image = {224, 224},
                    .warmup = 1,
                    .repeat = 3};
const SystemInfo kSystem = {.name = "bench1", .cpu = "A CPU", .cores = 2};

Measurement three_passes() {
  return {.passes = {.samples_ms = {100, 102, 98},
                     .parts = {{{.forward_ms = 30, .backward_ms = 60, .update_ms = 10},
                                {.forward_ms = 31, .backward_ms = 61, .update_ms = 10},
                                {.forward_ms = 29, .backward_ms = 59, .update_ms = 10}}}},
          .compile_ms = 5,
          .flop = 2'000'000'000,
          .peak_memory_bytes = 3 << 20};
}

TEST(Record, RatesFollowFromTheMedian) {
  const Record record = make_record(kCase, three_passes(), kSystem, MachineSpeed{2, 80, 30});
  EXPECT_DOUBLE_EQ(record.median_ms.value(), 100);
  EXPECT_DOUBLE_EQ(record.images_per_s.value(), 160);
  EXPECT_DOUBLE_EQ(record.gflops.value(), 20);
  EXPECT_DOUBLE_EQ(record.percent_of_peak.value(), 25);
  EXPECT_DOUBLE_EQ(record.backward_ms.value(), 60);
  EXPECT_DOUBLE_EQ(record.peak_memory_mib.value(), 3);
}

TEST(Record, OfAGpuIsHeldAgainstItsProductsInThatPrecision) {
  Case cell = kCase;
  cell.execution.device = "cuda";
  cell.execution.precision = "bf16";
  const GpuSpeed speed = {
      .device = "cuda", .devices = 1, .precision = "bf16", .product_rows = 8192, .product_gflops = 200};
  const Record record = make_record(cell, three_passes(), kSystem, speed);
  EXPECT_DOUBLE_EQ(record.percent_of_peak.value(), 10);
  EXPECT_TRUE(record.system.speeds.empty());
  EXPECT_EQ(to_json(record)["system"]["gpu_speeds"],
            Json::parse(R"([{"device": "cuda", "devices": 1, "precision": "bf16", "product_rows": 8192,
                             "product_gflops": 200.0}])"));
  GpuSpeed unknown = speed;
  unknown.product_gflops = 0;
  EXPECT_FALSE(make_record(cell, three_passes(), kSystem, unknown).percent_of_peak);
  EXPECT_TRUE(make_record(cell, three_passes(), kSystem, unknown).system.gpu_speeds.empty());
}

TEST(Record, SaysHowGradientsWereExchanged) {
  Measurement measurement = three_passes();
  EXPECT_FALSE(to_json(make_record(kCase, measurement, kSystem, {})).contains("exchange"));
  measurement.exchange = "NCCL";
  EXPECT_EQ(to_json(make_record(kCase, measurement, kSystem, {}))["exchange"], "NCCL");
}

TEST(Record, JsonHasTheFieldsThatApplyAndNoOthers) {
  const Json json = to_json(make_record(kCase, three_passes(), kSystem, {}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["image"], "224x224");
  EXPECT_EQ(json["samples_ms"], Json({100.0, 102.0, 98.0}));
  EXPECT_EQ(json["system"]["name"], "bench1");
  EXPECT_FALSE(json.contains("percent_of_peak"));
  EXPECT_FALSE(json.contains("median_low_ms"));
  EXPECT_FALSE(json.contains("weights"));
}

TEST(Record, InferenceHasNoPhases) {
  Case cell = kCase;
  cell.mode = Mode::infer;
  const Json json =
      to_json(make_record(cell, {.passes = {.samples_ms = {1, 1, 1}, .parts = {{{}, {}, {}}}}}, kSystem, {}));
  EXPECT_FALSE(json.contains("forward_ms"));
  EXPECT_FALSE(json.contains("update_ms"));
}

TEST(Record, SeveralDevicesHaveTheMeanOfTheirPartsAndEachItsOwn) {
  Case cell = kCase;
  cell.execution.devices = 2;
  const PassParts fast = {.forward_ms = 30,
                          .backward_ms = 50,
                          .exposed_allreduce_ms = 2,
                          .wait_ms = 12,
                          .update_ms = 6,
                          .allreduce_ms = 20},
                  slow = {.forward_ms = 34,
                          .backward_ms = 58,
                          .exposed_allreduce_ms = 2,
                          .wait_ms = 0,
                          .update_ms = 6,
                          .allreduce_ms = 20};
  const std::vector<std::vector<PassParts>> parts = {{fast, fast, fast}, {slow, slow, slow}};
  const Measurement measurement = {
      .passes = {.samples_ms = {100, 100, 100}, .parts = parts, .bytes_moved = 800}, .hosts = {"a", "b"}};
  const Record record = make_record(cell, measurement, kSystem, {});
  EXPECT_DOUBLE_EQ(record.forward_ms.value(), 32);
  EXPECT_DOUBLE_EQ(record.wait_ms.value(), 6);
  EXPECT_DOUBLE_EQ(record.allreduce_ms.value(), 20);
  EXPECT_EQ(record.bytes_moved, 800);
  EXPECT_EQ(record.nodes, 2);
  EXPECT_EQ(record.parallel, "allreduce");
  ASSERT_EQ(record.ranks.size(), 2u);
  EXPECT_EQ(record.ranks[1].host, "b");
  EXPECT_DOUBLE_EQ(record.ranks[1].backward_ms.value(), 58);
  EXPECT_DOUBLE_EQ(*record.forward_ms + *record.backward_ms + *record.exposed_allreduce_ms + *record.wait_ms +
                       *record.update_ms,
                   *record.median_ms);
}

TEST(Record, PartsThatTradePlacesAddUpToTheMedianPass) {
  std::vector<PassParts> parts;
  std::vector<double> samples;
  for (const auto& [forward_ms, backward_ms] :
       {std::pair{10, 90}, std::pair{11, 10}, std::pair{80, 20}, std::pair{79, 19}, std::pair{12, 95},
        std::pair{500, 20}, std::pair{15, 86}}) {
    parts.push_back({.forward_ms = double(forward_ms), .backward_ms = double(backward_ms)});
    samples.push_back(parts.back().total_ms());
  }
  const Record record =
      make_record(kCase, {.passes = {.samples_ms = samples, .parts = {parts}}}, kSystem, {});
  EXPECT_DOUBLE_EQ(record.median_ms.value(), 100);
  EXPECT_DOUBLE_EQ(record.forward_ms.value(), 100.0 * (10 + 80 + 15) / (100 + 100 + 101));
  EXPECT_DOUBLE_EQ(*record.forward_ms + *record.backward_ms, *record.median_ms);
}

TEST(Record, DevicesWithoutCoresOfTheirOwnAreOversubscribed) {
  Measurement measurement = three_passes();
  measurement.has_cores = false;
  EXPECT_EQ(make_record(kCase, measurement, kSystem, {}).judgement.verdict, Verdict::oversubscribed);
}

TEST(Record, ACellThatDidNotFitHasAReasonAndNoFigures) {
  const Measurement nothing = {.status = Status::out_of_memory,
                               .reason = "needs about 3.2 TiB, 22.9 GiB are available"};
  const Json json = to_json(make_record(kCase, nothing, kSystem, MachineSpeed{2, 80, 30}));
  EXPECT_EQ(json["verdict"], "out_of_memory");
  EXPECT_EQ(json["reason"], nothing.reason);
  for (const char* name : {"samples_ms", "median_ms", "images_per_s", "gflops", "peak_memory_mib"}) {
    EXPECT_FALSE(json.contains(name)) << name;
  }
}

TEST(Record, TimeIsIso8601AndIdsDiffer) {
  const Record a = make_record(kCase, three_passes(), kSystem, {}),
               b = make_record(kCase, three_passes(), kSystem, {});
  ASSERT_EQ(a.time.size(), 20u);
  EXPECT_EQ(a.time[10], 'T');
  EXPECT_EQ(a.time[19], 'Z');
  EXPECT_NE(a.id, b.id);
}

TEST(Fields, NamesAreUniqueAndColumnsHaveAHeaderAndAText) {
  std::set<std::string_view> names;
  for (const Field& field : fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    if (field.column == Column::never) continue;
    EXPECT_FALSE(field.header.empty()) << field.name;
    EXPECT_NE(field.text, nullptr) << field.name;
  }
}

}  // namespace
}  // namespace tacho
