#include "report/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Record measured(std::string machine, std::string model) {
  Record record = {.id = "1", .kind = "bench", .command = "tacho bench " + model, .model = std::move(model)};
  record.system = {.name = machine, .machine_id = "id of " + machine, .cpu = "A CPU", .cores = 4};
  return record;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(MarkdownReport, EachMachineHasAHeadingWithItsSummary) {
  const std::vector records = {measured("one", "resnet18"), measured("two", "resnet18"),
                               measured("one", "resnet50")};
  const std::string text = markdown_report(records);
  EXPECT_EQ(count(text, "\n## "), 2u);
  EXPECT_THAT(text, HasSubstr("\n## one\n"));
  EXPECT_THAT(text, HasSubstr("- CPU: A CPU\n"));
}

TEST(MarkdownReport, EachCommandStandsOnceInACodeBlock) {
  const std::vector records = {measured("one", "resnet18"), measured("one", "resnet18")};
  EXPECT_EQ(count(markdown_report(records), "```\ntacho bench resnet18\n```"), 1u);
}

TEST(MarkdownReport, PublishedSetsComeLastWithTheirSource) {
  Record published = measured("GPU", "resnet18");
  published.reference = "a-set";
  published.source = "A report";
  const std::vector records = {published, measured("one", "resnet18")};
  const std::string text = markdown_report(records);
  EXPECT_LT(text.find("## one"), text.find("## a-set"));
  EXPECT_THAT(text, HasSubstr("- source: A report\n"));
  EXPECT_THAT(text, Not(HasSubstr("## GPU")));
}

}  // namespace
}  // namespace tacho
