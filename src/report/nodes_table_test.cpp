#include "report/nodes_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kHosts = {"a", "b", "c", "d"};
const HostFigures kEven = {"FMA alone", "GFLOP/s", {{100, 101}, {100, 99}, {101, 100}, {100, 100}}},
                  kOneSlow = {"memory alone", "GB/s", {{20, 20}, {20, 20}, {9, 9}, {20, 20}}};

TEST(NodesTable, SaysWhatIsWrongWithWhichHost) {
  const std::vector<HostFigures> figures = {kEven, kOneSlow};
  const Grid grid = nodes_table(kHosts, figures);
  ASSERT_EQ(grid.rows.size(), 4u);
  EXPECT_EQ(grid.rows[0].back(), "fine");
  EXPECT_THAT(grid.rows[2].back(), HasSubstr("memory alone: 55 % behind"));
  EXPECT_THAT(grid.rows[2][2], HasSubstr("(-55.0 %)"));
  EXPECT_THAT(slow_hosts(kHosts, figures), ElementsAre("c"));
}

TEST(NodesTable, ComesWithItsRuleAndWhatThatMeansForSoManyFigures) {
  EXPECT_THAT(
      outlier_rule(kHosts, std::vector{kEven, kOneSlow}),
      testing::AllOf(HasSubstr("more than 10 %"), HasSubstr("more than 5 standard deviations"),
                     HasSubstr("1 in 4000 healthy figures"), HasSubstr("at most 1 false alarm in 500 runs")));
}

TEST(NodesTable, HasNothingToSayOfEvenHosts) { EXPECT_TRUE(slow_hosts(kHosts, std::vector{kEven}).empty()); }

}  // namespace
}  // namespace tacho
