#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/json_values.h"
#include "report/pairing.h"
#include "results/fields.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Record measured(double ms, int64_t batch = 16) {
  Record record = {.id = "a", .kind = "bench", .model = "resnet18", .mode = "infer", .engine = "native"};
  record.batch = batch;
  record.devices = 1;
  record.threads = 2;
  record.image = "224x224";
  for (int i = 0; i < 20; ++i) record.samples_ms.push_back(ms * (1 + 0.001 * (i % 5)));
  record.median_ms = ms * 1.002;
  record.median_low_ms = ms;
  record.median_high_ms = ms * 1.004;
  return record;
}

Record training(double forward, double backward, double update) {
  Record record = measured(forward + backward + update);
  record.mode = "train";
  record.median_ms = forward + backward + update;
  record.forward_ms = forward;
  record.backward_ms = backward;
  record.update_ms = update;
  record.time_includes = {"update"};
  return record;
}

Record published(double ms) {
  return {.kind = "bench",
          .model = "resnet18",
          .mode = "infer",
          .batch = 16,
          .devices = 1,
          .image = "224x224",
          .mean_ms = ms,
          .reference = "set"};
}

ComparedPair only_pair(const Record& a, const Record& b) {
  const auto pairs = compare_selections({"a", {a}}, {"b", {b}});
  EXPECT_EQ(pairs.size(), 1u);
  return pairs.at(0);
}

TEST(Compare, SaysWhichSideIsSimulated) {
  Record simulated = measured(100);
  simulated.judgement.verdict = Verdict::simulated;
  EXPECT_THAT(only_pair(measured(100), simulated).marks, ElementsAre("the second is simulated"));
  EXPECT_THAT(only_pair(simulated, measured(100)).marks, ElementsAre("the first is simulated"));
}

TEST(Compare, AnswersForTheSameWork) {
  const ComparedPair pair = only_pair(measured(50), measured(100));
  EXPECT_TRUE(pair.refusals.empty());
  EXPECT_NEAR(pair.comparison.ratio, 2, 1e-6);
  EXPECT_EQ(pair.comparison.answer, Answer::faster);
}

TEST(Compare, RefusesAnotherBatchWithTheReason) {
  EXPECT_THAT(only_pair(measured(50, 16), measured(100, 12)).refusals, ElementsAre("batch 16 against 12"));
}

TEST(Compare, DoesNotListOtherBatchesWhereOneFits) {
  const auto pairs =
      compare_selections({"a", {measured(50, 16), measured(90, 32)}}, {"b", {measured(40, 16)}});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a.batch, 16);
}

TEST(Compare, PrefersTheSameEngineAndThreads) {
  Record other = measured(1);
  other.engine = "torch";
  const auto pairs = compare_selections({"a", {measured(50)}}, {"b", {measured(100), other}});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].b.engine, "native");
}

TEST(Compare, PrefersTheSameMeansWhereThreadsDoNotDecide) {
  Record winograd = measured(50), other = measured(100), same = measured(60);
  winograd.kernel = same.kernel = "winograd";
  other.kernel = "onednn";
  const auto pairs = compare_selections({"a", {winograd}}, {"b", {same, other}});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].b.kernel, "winograd");
}

TEST(Compare, TheSystemDecidesBeforeTheEngineAndThatBeforeAllOtherMeans) {
  Record a = measured(50), same_engine = measured(60), same_means = measured(70), same_system = measured(80);
  a.system.name = same_system.system.name = "here";
  a.kernel = same_means.kernel = "winograd";
  same_means.engine = same_system.engine = "torch";
  EXPECT_EQ(compare_selections({"a", {a}}, {"b", {same_engine, same_means}}).at(0).b_at, 0u);
  EXPECT_EQ(compare_selections({"a", {a}}, {"b", {same_system, same_engine, same_means}}).at(0).b_at, 0u);
}

TEST(Compare, RefusesEveryDifferenceInWorkThatBothKnow) {
  for (const Field& field : fields()) {
    if (field.role != FieldRole::work) continue;
    const bool is_text =
        std::set<std::string_view>{"precision", "image", "parallel", "halo", "border", "dtype"}.contains(
            field.name);
    Record a = measured(50), b = measured(50), unknown = measured(50);
    field.access.set(a, is_text ? Json("16x16") : Json(3));
    field.access.set(b, is_text ? Json("32x32") : Json(4));
    EXPECT_EQ(only_pair(a, b).refusals.size(), 1u) << field.name;
    if (field.access.get(unknown).is_null()) {
      EXPECT_THAT(only_pair(a, unknown).refusals, IsEmpty()) << field.name;
    }
  }
}

TEST(Compare, SaysWhereAPairStandsInItsSelections) {
  Record vgg = measured(10);
  vgg.model = "vgg16";
  const auto pairs =
      compare_selections({"a", {vgg, measured(50)}}, {"b", {measured(60, 8), measured(60, 16)}});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a_at, 1u);
  EXPECT_EQ(pairs[0].b_at, 1u);
}

TEST(Compare, SlowerThanToleratedIsATimeBeyondThatShareAndTheAnswerSlower) {
  const auto is_slower = [](const Record& a, const Record& b, double share) {
    return any_slower(std::vector<Selection>{{"a", {a}}, {"b", {b}}}, share);
  };
  EXPECT_TRUE(is_slower(measured(106), measured(100), 0.05));
  EXPECT_FALSE(is_slower(measured(104), measured(100), 0.05));
  EXPECT_FALSE(is_slower(measured(100), measured(106), 0.05));
  Record noisy = measured(106);
  noisy.samples_ms[0] = noisy.samples_ms[1] = noisy.samples_ms[2] = 10;
  for (size_t i = 3; i < 12; ++i) noisy.samples_ms[i] = i % 2 == 0 ? 80 : 140;
  EXPECT_FALSE(is_slower(noisy, measured(100), 0.05));
  EXPECT_FALSE(is_slower(measured(500, 16), measured(100, 32), 0.05));
}

TEST(Compare, TakesTheUpdateOutWhereTheOtherHasNone) {
  Record without = published(40);
  without.mode = "train";
  const ComparedPair pair = only_pair(training(10, 30, 40), without);
  EXPECT_NEAR(pair.a_value, 40, 1e-9);
  EXPECT_NEAR(pair.comparison.ratio, 1, 0.01);
  EXPECT_THAT(pair.marks, ElementsAre("without update", "a median against a mean"));
}

TEST(Compare, OfSeveralDevicesOnlyTheUpdateIsTakenOut) {
  Record without = published(60), with_update = training(10, 30, 40);
  without.mode = "train";
  with_update.exposed_allreduce_ms = 15;
  with_update.wait_ms = 5;
  with_update.median_ms = 100;
  EXPECT_NEAR(only_pair(with_update, without).a_value, 60, 1e-9);
}

TEST(Compare, RefusesWhereTheUpdateCannotBeTakenOut) {
  Record with_update = published(40), without = published(40);
  with_update.mode = without.mode = "train";
  with_update.time_includes = {"update"};
  EXPECT_THAT(only_pair(with_update, without).refusals,
              ElementsAre("only one of the times includes the update"));
}

TEST(Compare, MarksWhatOnlyOneCounts) {
  Record with_copy = published(40);
  with_copy.time_includes = {"transfer"};
  EXPECT_THAT(only_pair(published(40), with_copy).marks, ElementsAre("transfer counted in the second only"));
}

TEST(Compare, ARateIsBetterWhereItIsHigher) {
  Record slow = published(0), fast = published(0);
  slow.mean_ms = fast.mean_ms = std::nullopt;
  slow.output_mvox_per_s = 8.8;
  fast.output_mvox_per_s = 12.7;
  const ComparedPair pair = only_pair(fast, slow);
  EXPECT_NEAR(pair.comparison.ratio, 12.7 / 8.8, 1e-9);
  EXPECT_EQ(pair.comparison.answer, Answer::faster);
}

TEST(Compare, InterleavedCellsAreComparedPassByPass) {
  Record a = measured(100), b = measured(110);
  b.id = "b";
  for (size_t i = 0; i < a.samples_ms.size(); ++i) {
    const double drift = 1 + 0.05 * static_cast<double>(i);
    a.samples_ms[i] *= drift;
    b.samples_ms[i] *= drift;
  }
  EXPECT_EQ(only_pair(a, b).comparison.answer, Answer::cannot_tell);
  a.interleaved = b.interleaved = "turns";
  EXPECT_EQ(only_pair(a, b).comparison.answer, Answer::faster);
}

TEST(CompareTable, ShowsOnlyColumnsThatDiffer) {
  const std::vector<Selection> selections = {{"here", {measured(50)}}, {"there", {measured(100)}}};
  const std::string table = format_comparison(selections, Format::md);
  EXPECT_THAT(table, HasSubstr("here ms"));
  EXPECT_THAT(table, HasSubstr("faster"));
  EXPECT_THAT(table, HasSubstr("batch 16"));
  EXPECT_THAT(table, Not(HasSubstr("| batch")));
  EXPECT_THAT(table, Not(HasSubstr("| engine")));
}

TEST(CompareTable, ShowsBothValuesOfWhatDiffersInAPair) {
  Record other = measured(100);
  other.threads = 1;
  const std::vector<Selection> selections = {{"a", {measured(50)}}, {"b", {other}}};
  EXPECT_THAT(format_comparison(selections, Format::md), HasSubstr("threads 2 / 1"));
}

TEST(CompareTable, ShowsTheRecipesOfTrainingRuns) {
  Record adam = measured(50), sgd = measured(100);
  adam.kind = sgd.kind = "train";
  adam.recipe = "adam";
  sgd.recipe = "sgd";
  const std::vector<Selection> selections = {{"a", {adam}}, {"b", {sgd}}};
  EXPECT_THAT(format_comparison(selections, Format::md), HasSubstr("recipe adam / sgd"));
}

TEST(CompareTable, RefusesSelectionsWithNothingInCommon) {
  Record other = measured(1);
  other.model = "vgg16";
  const std::vector<Selection> selections = {{"a", {measured(50)}}, {"b", {other}}};
  EXPECT_THROW(format_comparison(selections, Format::md), UserError);
}

}  // namespace
}  // namespace tacho
