#include "report/published.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

Record published(std::string known_error = "", std::string correction = "") {
  return {.reference = "set", .known_error = std::move(known_error), .correction = std::move(correction)};
}

TEST(Published, OurFiguresAreRoundedAndPublishedOnesAreNot) {
  EXPECT_EQ(figure_text({}, "images_per_s", 1234.5678, 4), "1235");
  EXPECT_EQ(figure_text(published(), "images_per_s", 1234.5678, 4), "1234.5678");
  EXPECT_EQ(figure_text(published(), "images_per_s", {}, 4), "");
}

TEST(Published, ACorrectedFigureStandsInBrackets) {
  Record record = published();
  record.corrected["seconds"] = 30.4;
  EXPECT_EQ(figure_text(record, "seconds", 304.02, 4), "304.02 (30.4)");
  EXPECT_EQ(figure_text(record, "images_per_s", 5, 4), "5");
}

TEST(Published, OnlyVerdictsThatAreNotSimplyValidAreNoted) {
  Record record;
  EXPECT_EQ(note_on(record, {}), "");
  record.judgement.verdict = Verdict::oversubscribed;
  EXPECT_EQ(note_on(record, {}), "oversubscribed");
}

TEST(Published, KnownErrorsAreNumberedAndSaidOnceBelow) {
  const std::vector<Record> set = {published("Queued.", "Use the total."), published(),
                                   published("Queued.", "Use the total."), published("Halo.", "Less.")};
  EXPECT_EQ(note_on(set[1], set), "");
  EXPECT_EQ(note_on(set[2], set), "known error 1");
  EXPECT_EQ(note_on(set[3], set), "known error 2");
  EXPECT_EQ(known_errors(set),
            "known error 1, set: Queued. Use the total.\nknown error 2, set: Halo. Less.\n");
}

}  // namespace
}  // namespace tacho
