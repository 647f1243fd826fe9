#include "results/speedup.h"

#include <gtest/gtest.h>

#include "results/example_record.h"

namespace tacho {
namespace {

Record training(int devices, double pass_ms) {
  Record record = example_record();
  record.mode = "train";
  record.devices = devices;
  record.parallel = devices > 1 ? "allreduce" : "";
  record.median_ms = pass_ms;
  record.images_per_s = 1e3 * 16 * devices / pass_ms;
  return record;
}

TEST(Speedup, IsTheRatioOfThroughputs) {
  EXPECT_DOUBLE_EQ(*speedup_of(training(4, 125), training(1, 100)), 3.2);
}

TEST(Speedup, UsesThePublishedThroughputAsItWasCorrected) {
  Record published = training(2, 100);
  published.corrected["images_per_s"] = 240;
  EXPECT_DOUBLE_EQ(*speedup_of(published, training(1, 100)), 1.5);
}

TEST(Speedup, OversubscribedAndFailedCellsHaveNone) {
  const Record one = training(1, 100);
  for (const Verdict verdict :
       {Verdict::oversubscribed, Verdict::failed, Verdict::out_of_memory, Verdict::unknown}) {
    Record other = training(2, 100);
    other.judgement.verdict = verdict;
    EXPECT_FALSE(speedup_of(other, one));
    EXPECT_FALSE(speedup_of(training(2, 100), other));
  }
}

TEST(Speedup, WithoutAThroughputThereIsNone) {
  Record record = training(2, 100);
  record.images_per_s = {};
  EXPECT_FALSE(speedup_of(record, training(1, 100)));
}

TEST(Speedup, PhasesHaveTheirOwn) {
  Record one = training(1, 100), two = training(2, 110);
  one.forward_ms = 30, one.backward_ms = 60, one.update_ms = 10;
  two.forward_ms = 40, two.backward_ms = 60, two.update_ms = 10;
  two.exposed_allreduce_ms = 25, two.wait_ms = 5;
  EXPECT_DOUBLE_EQ(*speedup_of(two, one, forward_rate), 1.5);
  EXPECT_DOUBLE_EQ(*speedup_of(two, one, backward_rate), 1.4);
}

TEST(Speedup, PublishedPhasesAreRatesAlready) {
  Record record = training(2, 100);
  record.forward_images_per_s = 195.89, record.backward_images_per_s = 129.09;
  EXPECT_EQ(forward_rate(record), 195.89);
  EXPECT_EQ(backward_rate(record), 129.09);
}

TEST(ImagesPerPass, AreTheTotalBatchWhereItDoesNotDivide) {
  Record record = training(3, 100);
  EXPECT_EQ(images_per_pass(record), 48);
  record.batch = 0, record.batch_total = 16;
  EXPECT_EQ(images_per_pass(record), 16);
}

// The id of the record on one device that belongs to `record`.
std::string partner(const Record& record, std::vector<Record> records, Held held = Held::batch_per_device) {
  const Record* found = on_one_device(record, records, held);
  return found == nullptr ? "none" : found->id;
}

TEST(OnOneDevice, IsTheSameWorkOnADeviceOfTheSameKind) {
  Record one = training(1, 100);
  EXPECT_EQ(partner(training(2, 100), {one, training(4, 100)}), one.id);
  for (const auto change : {+[](Record& r) { r.model = "vgg16"; }, +[](Record& r) { r.batch = 8; },
                            +[](Record& r) { r.image = "32x32"; }, +[](Record& r) { r.threads = 1; },
                            +[](Record& r) { r.engine = "reference"; }, +[](Record& r) { r.devices = 2; },
                            +[](Record& r) { r.system.name = "there"; },
                            +[](Record& r) { r.judgement.verdict = Verdict::simulated; }}) {
    Record other = one;
    change(other);
    EXPECT_EQ(partner(training(2, 100), {other}), "none");
  }
}

TEST(OnOneDevice, BucketsAndSynchronousBatchNormAreOnlyOfSeveral) {
  Record two = training(2, 100);
  two.bucket_mib = 25, two.batch_norm = "sync", two.nodes = 2;
  EXPECT_EQ(partner(two, {training(1, 100)}), training(1, 100).id);
}

TEST(OnOneDevice, PrefersTheMostSimilarMeansThenTheLatest) {
  Record low = training(1, 100), first = training(1, 100), second = training(1, 100);
  low.id = "low", low.memory = "low", first.id = "first", second.id = "second";
  EXPECT_EQ(partner(training(2, 100), {first, second, low}), "second");
}

TEST(OnOneDevice, HoldsEitherBatch) {
  Record one = training(1, 100), two = training(2, 100);
  two.batch = 8;
  EXPECT_EQ(partner(two, {one}), "none");
  EXPECT_EQ(partner(two, {one}, Held::batch_in_total), one.id);
}

TEST(OnOneDevice, AScatteredBatchIsOneOnASingleDeviceToo) {
  Record plain = training(1, 100), scattered = training(1, 100), two = training(2, 100);
  plain.id = "plain", scattered.id = "scattered";
  scattered.parallel = two.parallel = "scatter";
  EXPECT_EQ(partner(two, {scattered, plain}), "scattered");
  two.parallel = "replicas";
  EXPECT_EQ(partner(two, {plain, scattered}), "plain");
}

}  // namespace
}  // namespace tacho
