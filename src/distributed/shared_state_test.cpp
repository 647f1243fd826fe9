#include "distributed/shared_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/test_folder.h"
#include "distributed/collectives.h"
#include "distributed/thread_ranks.h"
#include "engine/engines.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "models/initialize.h"

namespace tacho {
namespace {

using ::testing::ThrowsMessage;

Graph small_training(int64_t channels = 8) {
  Builder b("one");
  const ValueId x = b.input("input", {1, 8, 4, 4});
  return gradient(b.finish(b.convolution("conv", x, {.channels = channels, .kernel = {3, 3}})), Loss::dice);
}

std::unique_ptr<Plan> compiled(const Graph& graph, const char* engine = "reference", uint64_t seed = 1) {
  return find_engine(engine).compile(graph, initialize(graph, seed), {.update = Adam{}});
}

TEST(SharedFile, EveryCopyHasAPathOfItsOwnAndIsGoneWithIt) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "first";
  on_thread_ranks(2, [&](Communicator& all) {
    if (all.rank() == 0) write_file_atomically(file, "before");
    std::optional<SharedFile> before(std::in_place, all, file);
    const std::filesystem::path path = before->path();
    EXPECT_EQ(read_file(path), "before");
    barrier(all);
    if (all.rank() == 0) write_file_atomically(file, "after");
    const SharedFile after(all, file);
    EXPECT_EQ(read_file(after.path()), "after");
    EXPECT_EQ(after.path() == path, all.rank() == 0);
    before.reset();
    EXPECT_EQ(std::filesystem::exists(path), all.rank() == 0);
  });
}

TEST(SharedState, OfEqualRanksIsEqual) {
  on_thread_ranks(3, [](Communicator& all) {
    const Graph graph = small_training();
    const auto plan = compiled(graph, "native");
    require_equal_plans(all, *plan);
    require_equal_parameters(all, *plan, graph);
  });
}

TEST(SharedState, NamesTheRankWithOneOtherBitInItsWeightsOnAllRanks) {
  on_thread_ranks(3, [](Communicator& all) {
    const Graph graph = small_training();
    const auto plan = compiled(graph);
    if (all.rank() == 2) {
      const ValueId parameter = graph.gradients.back().parameter;
      Tensor tensor = plan->read(parameter);
      float& last = tensor.values<float>().back();
      last = std::nextafter(last, 1.0f);
      plan->write(parameter, tensor);
    }
    EXPECT_THAT([&] { require_equal_parameters(all, *plan, graph); },
                ThrowsMessage<std::runtime_error>("rank 2 has other weights than rank 0"));
  });
}

TEST(SharedState, NamesTheRankWithOtherKernels) {
  on_thread_ranks(2, [](Communicator& all) {
    const auto plan = compiled(small_training(), all.rank() == 1 ? "reference" : "native");
    EXPECT_THAT(
        [&] { require_equal_plans(all, *plan); },
        ThrowsMessage<std::runtime_error>("rank 1 has other kernels than rank 0; choose one with --kernel"));
  });
}

TEST(SharedState, NamesTheRankWithOtherGradients) {
  on_thread_ranks(2, [](Communicator& all) {
    const auto plan = compiled(small_training(all.rank() == 1 ? 16 : 8));
    EXPECT_THAT([&] { require_equal_plans(all, *plan); },
                ThrowsMessage<std::runtime_error>("rank 1 has other gradients than rank 0"));
  });
}

TEST(SharedState, IsRank0sAfterABroadcast) {
  on_thread_ranks(2, [](Communicator& all) {
    const Graph graph = small_training();
    const auto plan = compiled(graph, "reference", static_cast<uint64_t>(all.rank()));
    EXPECT_THROW(require_equal_parameters(all, *plan, graph), std::runtime_error);
    plan->set_counters({.passes = static_cast<uint64_t>(7 + all.rank()), .updates = 3 + all.rank()});
    broadcast_state(all, graph, state_per_parameter(Adam{}), *plan);
    require_equal_parameters(all, *plan, graph);
    EXPECT_EQ(plan->counters().passes, 7u);
    EXPECT_EQ(plan->counters().updates, 3);
  });
}

}  // namespace
}  // namespace tacho
