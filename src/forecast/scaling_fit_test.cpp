#include "forecast/scaling_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/selection.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;

const std::vector<int> kOneAndEight = {1, 8};

Record on_devices(int devices, double ms) {
  Record record = {.kind = "bench", .model = "resnet50", .mode = "train", .batch = 32, .devices = devices};
  record.median_ms = ms;
  return record;
}

ScalingSeries series_of(const std::vector<Record>& records) { return scaling_series(records).at(0); }

TEST(ScalingSeries, IsOfOneCaseOnSeveralNumbersOfDevices) {
  std::vector<Record> records = {on_devices(8, 130), on_devices(1, 100), on_devices(2, 110)};
  records[0].parallel = "allreduce";
  records[0].nodes = 2;
  records.push_back(on_devices(4, 90));
  records.back().batch = 16;
  const auto all = scaling_series(records);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].devices(), ElementsAre(1, 2, 8));
  EXPECT_EQ(all[0].figure_on(2), 110);
  EXPECT_FALSE(all[0].figure_on(4).has_value());
}

TEST(ScalingSeries, TheLastRecordOfANumberOfDevicesCounts) {
  const auto series = series_of({on_devices(1, 100), on_devices(2, 150), on_devices(2, 110)});
  EXPECT_EQ(series.figure_on(2), 110);
}

TEST(ScalingSeries, KnowsNoSimulatedOnesAmongTheMeasured) {
  std::vector<Record> records = {on_devices(1, 100), on_devices(2, 110), on_devices(4, 999)};
  records[2].judgement.verdict = Verdict::simulated;
  EXPECT_THAT(series_of(records).devices(), ElementsAre(1, 2));
}

TEST(ScalingFit, EveryDoublingCostsTheSame) {
  const auto fit = fit_scaling(series_of({on_devices(1, 100), on_devices(8, 130)}), kOneAndEight).value();
  EXPECT_DOUBLE_EQ(fit.step_on(1), 100);
  EXPECT_DOUBLE_EQ(fit.step_on(2), 110);
  EXPECT_DOUBLE_EQ(fit.step_on(64), 160);
  EXPECT_DOUBLE_EQ(fit.speedup_on(64), 40);
}

TEST(ScalingFit, MoreThanTwoNumbersAreMetOnAverage) {
  const auto series = series_of({on_devices(1, 100), on_devices(2, 113), on_devices(4, 120)});
  const auto fit = fit_scaling(series, std::vector<int>{1, 2, 4}).value();
  EXPECT_DOUBLE_EQ(fit.per_doubling, 10);
  EXPECT_DOUBLE_EQ(fit.first, 101);
}

TEST(ScalingFit, ACostIsNeverNegative) {
  const auto fit = fit_scaling(series_of({on_devices(1, 100), on_devices(8, 98)}), kOneAndEight).value();
  EXPECT_EQ(fit.per_doubling, 0);
  EXPECT_DOUBLE_EQ(fit.step_on(128), 99);
}

TEST(ScalingFit, NeedsEveryNumberItIsToBeFittedTo) {
  const auto series = series_of({on_devices(1, 100), on_devices(2, 110)});
  EXPECT_FALSE(fit_scaling(series, kOneAndEight).has_value());
}

TEST(ScalingFit, RefusesGrowthThatLeavesNothingForOneDevice) {
  const auto series = series_of({on_devices(8, 200), on_devices(16, 400)});
  EXPECT_FALSE(fit_scaling(series, std::vector<int>{8, 16}).has_value());
}

// Whatever a figure counts, the step behind it is the same: 100 ms on one device, 110 on two, 120 on four.
TEST(ScalingFit, EveryMetricGoesOnInItsOwnUnit) {
  struct Published {
    std::optional<double> Record::*figure;
    double one, two, four;
  };
  const Published all[] = {{&Record::images_per_s, 320, 640 / 1.1, 1280 / 1.2},
                           {&Record::iterations_per_min, 600, 600 / 1.1, 600 / 1.2},
                           {&Record::seconds_per_epoch, 40, 22, 12},
                           {&Record::mean_ms, 100, 110, 120}};
  for (const auto& [figure, one, two, four] : all) {
    std::vector<Record> records(2,
                                Record{.kind = "bench", .model = "resnet50", .mode = "train", .batch = 32});
    records[0].devices = 1;
    records[0].*figure = one;
    records[1].devices = 2;
    records[1].*figure = two;
    const ScalingSeries series = series_of(records);
    const auto fit = fit_scaling(series, std::vector<int>{1, 2}).value();
    EXPECT_NEAR(fit.figure_on(4, *series.metric), four, 1e-9 * four) << series.metric->unit;
  }
}

// Its rows of 16 to 128 devices, from those of 1 and 8.
TEST(ScalingFit, PredictsThePublishedThroughputOfManyDevicesWithinFivePercent) {
  const auto series = series_of(select_records("pytorch-throughput", {}, "").records);
  const auto fit = fit_scaling(series, kOneAndEight).value();
  for (const int devices : {16, 32, 64, 128}) {
    const double published = series.figure_on(devices).value();
    EXPECT_NEAR(fit.figure_on(devices, *series.metric), published, 0.05 * published) << devices;
  }
}

}  // namespace
}  // namespace tacho
