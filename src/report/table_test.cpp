#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "results/fields.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Record measured(std::string model, int threads) {
  Record record = {.id = "1",
                   .model = std::move(model),
                   .mode = "infer",
                   .engine = "native",
                   .batch = 16,
                   .threads = threads,
                   .image = "224x224",
                   .samples_ms = {45, 46}};
  record.median_ms = 45.234;
  record.mad_ms = 0.314;
  record.images_per_s = 353.7;
  record.system = {.name = "host", .cpu = "A CPU", .cores = 2};
  return record;
}

Record too_large() {
  Record record = measured("vgg16", 2);
  record.samples_ms.clear();
  record.median_ms = record.mad_ms = record.images_per_s = std::nullopt;
  record.judgement = {Verdict::out_of_memory, "needs about 3.2 TiB, \"22.9 GiB\" are available"};
  return record;
}

TEST(Table, ShowsTheTimeWithItsDeviationAndTheVerdict) {
  const std::vector records = {measured("resnet18", 2), too_large()};
  const std::string text = format_records(records, Format::table);
  EXPECT_THAT(text, HasSubstr("45.23 ± 0.31"));
  EXPECT_THAT(text, HasSubstr("out_of_memory"));
  EXPECT_THAT(text, HasSubstr("needs about 3.2 TiB"));
}

TEST(Table, WhatAllRecordsShareStandsAboveTheTable) {
  const std::vector records = {measured("resnet18", 2), measured("resnet50", 2)};
  const std::string text = format_records(records, Format::md);
  const std::string caption = text.substr(0, text.find('\n'));
  EXPECT_THAT(caption, HasSubstr("threads 2"));
  EXPECT_THAT(caption, HasSubstr("image 224x224"));
  EXPECT_THAT(text.substr(caption.size()), Not(HasSubstr("threads")));
}

TEST(Table, WhatDiffersIsAColumn) {
  const std::vector records = {measured("resnet18", 1), measured("resnet18", 2)};
  const std::string text = format_records(records, Format::md);
  EXPECT_THAT(text.substr(text.find('\n')), HasSubstr("| threads |"));
}

TEST(Table, PhasesAreColumnsOnlyWhereThereAreAny) {
  std::vector records = {measured("resnet18", 1)};
  EXPECT_THAT(format_records(records, Format::md), Not(HasSubstr("backward")));
  records[0].backward_ms = 3;
  EXPECT_THAT(format_records(records, Format::md), HasSubstr("backward ms"));
}

TEST(Table, CsvHasEveryFieldAndQuotesWhatNeedsIt) {
  const std::vector records = {too_large()};
  const std::string text = format_records(records, Format::csv);
  const std::string header = text.substr(0, text.find('\n'));
  EXPECT_EQ(std::ranges::count(header, ',') + 1, static_cast<std::ptrdiff_t>(fields().size()));
  EXPECT_THAT(text, HasSubstr("\"needs about 3.2 TiB, \"\"22.9 GiB\"\" are available\""));
}

TEST(Table, JsonIsAnArrayAndJsonlALineARecord) {
  const std::vector records = {measured("resnet18", 1), too_large()};
  const Json array = Json::parse(format_records(records, Format::json));
  ASSERT_EQ(array.size(), 2u);
  EXPECT_EQ(array[0]["model"], "resnet18");
  const std::string lines = format_records(records, Format::jsonl);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
  EXPECT_EQ(Json::parse(lines.substr(0, lines.find('\n'))), array[0]);
}

TEST(Table, NoRecordsAreAnEmptyTable) {
  EXPECT_EQ(format_records({}, Format::json), "[]\n");
  EXPECT_EQ(format_records({}, Format::jsonl), "");
}

TEST(Table, AnUnknownFormatIsRefused) { EXPECT_THROW(parse_format("xml"), UserError); }

TEST(Table, WhatIdentifiesAndTheHeadlinesStayWhereTheTerminalIsNarrow) {
  std::vector records = {measured("resnet18", 1), measured("resnet18", 2)};
  for (Record& record : records) record.gflops = 302, record.peak_memory_mib = 251;
  records[0].judgement.reason = "the second half of the passes was 6.0 % faster than the first";
  const std::string text = format_records(records, Layout(Format::table, 72));
  for (const char* kept : {"model", "threads", "median", "images/s", "verdict"})
    EXPECT_THAT(text, HasSubstr(kept));
  EXPECT_THAT(text, HasSubstr("left out for the width: reason, memory MiB, GFLOP/s;"));
  EXPECT_THAT(format_records(records, Layout(Format::md, 72)), HasSubstr("GFLOP/s"));
}

}  // namespace
}  // namespace tacho
