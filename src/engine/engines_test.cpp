#include "engine/engines.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "engine/execution.h"
#include "engine/null/null_engine.h"
#include "graph/builder.h"

namespace tacho {
namespace {

TEST(Engines, AreFoundByName) {
  for (const Engine* engine : engines()) EXPECT_EQ(&find_engine(engine->name()), engine);
}

// Conformance runs with whatever engines there are.
#ifdef TACHO_TORCH_FOUND
TEST(Engines, HaveTorchWhereLibtorchWasFound) { EXPECT_EQ(find_engine("torch").name(), "torch"); }
#endif

TEST(Engines, DefaultToNative) { EXPECT_EQ(engines().front()->name(), "native"); }

TEST(Engines, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    find_engine("cuda");
    FAIL() << "found an engine that does not exist";
  } catch (const UserError& error) {
    std::vector<std::string_view> names;
    for (const Engine* engine : engines()) names.push_back(engine->name());
    EXPECT_EQ(error.what(),
              fmt::format("engine 'cuda' is unknown; this build has {}", fmt::join(names, ", ")));
  }
}

TEST(NullEngine, AnswersZerosOfTheRightShape) {
  Builder b("net");
  const ValueId x = b.input("input", {2, 3, 4, 4});
  const Graph graph = b.finish(b.relu("relu", x));
  const auto plan = null_engine().compile(graph, {}, {});
  plan->forward();
  const Tensor y = plan->read(graph.outputs[0]);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4, 4}));
  for (const float value : y.values<float>()) EXPECT_EQ(value, 0);
}

TEST(Device, OfASeatIsTheOneThatWasAskedForOrRefusedByName) {
  EXPECT_EQ(device_of({.engine = "native", .device = "cpu"}, 3), "cpu");
  try {
    device_of({.engine = "native", .device = "cuda"}, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--device cuda: device 1 of this machine would be cuda:1, and there are cpu");
  }
}

TEST(Autotune, IsRecordedOfAGpuAndRefusedOnTheCpu) {
  const auto recorded = [](const Execution& execution) {
    return fields_of(execution, false).value("autotune", "");
  };
  EXPECT_EQ(recorded({.device = "cuda:0"}), "off");
  EXPECT_EQ(recorded({.device = "cuda:0", .autotune = true}), "on");
  EXPECT_EQ(recorded({}), "");
  for (const Engine* engine : engines()) {
    const std::string name(engine->name());
    try {
      check_execution({.engine = name, .autotune = true}, false);
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_EQ(error.what(),
                fmt::format("--autotune on: engine {} has nothing to tune on device cpu", name));
    }
  }
}

}  // namespace
}  // namespace tacho
