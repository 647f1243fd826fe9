#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_values.h"
#include "report/page_data.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const PageOrigin kOrigin = {
    .generated = "2026-11-16T00:00:00Z", .version = "1.2.3", .command = "tacho report", .machine = "here"};

std::string page_of(std::string model) {
  const Record record = {.id = "1", .model = std::move(model)};
  return html_page(page_data({&record, 1}, kOrigin));
}

// What the browser takes for the data.
std::string data_element(const std::string& page) {
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

TEST(Page, HoldsStyleLibraryScriptsAndData) {
  const std::string page = page_of("resnet18");
  EXPECT_THAT(page, HasSubstr("--paper:"));
  EXPECT_THAT(page, HasSubstr("Chart.js v"));
  EXPECT_THAT(page, HasSubstr("function zooSection()"));
  EXPECT_EQ(Json::parse(data_element(page))["records"][0]["model"], "resnet18");
}

TEST(Page, SaysWhereItComesFrom) {
  const Json data = Json::parse(data_element(page_of("resnet18")));
  EXPECT_EQ(data["machine"], "here");
  EXPECT_EQ(data["command"], "tacho report");
  EXPECT_EQ(data["generated"], kOrigin.generated);
}

TEST(Page, NoTextOfARecordBecomesMarkup) {
  const std::string hostile = "</script><script>alert(1)</script><!--";
  const std::string page = page_of(hostile);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(Json::parse(data_element(page))["records"][0]["model"], hostile);
}

TEST(Page, BracesInARecordStayAsTheyAre) {
  EXPECT_EQ(Json::parse(data_element(page_of("{{style}}")))["records"][0]["model"], "{{style}}");
}

TEST(Page, AsksTheNetworkForNothing) {
  const std::string page = page_of("resnet18");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

}  // namespace
}  // namespace tacho
