#include "distributed/scattered_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "distributed/thread_ranks.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"

namespace tacho {
namespace {

Graph network(int64_t batch) {
  return build_model(find_model("squeezenet1_1"), {.batch = batch, .image = {32, 32}, .classes = 3});
}

std::unique_ptr<Plan> plan_of(const Graph& graph) {
  return find_engine("reference").compile(graph, initialize(graph, 1), {.threads = 1});
}

Tensor images(int64_t count) {
  Tensor tensor({count, 3, 32, 32}, DType::f32);
  Random(5).fill_normal(tensor.values<float>(), 0, 1);
  return tensor;
}

TEST(ShareOut, IsAsEvenAsItGoes) {
  EXPECT_THAT(share_out(16, 3), testing::ElementsAre(6, 5, 5));
  EXPECT_THAT(share_out(16, 4), testing::Each(4));
}

TEST(ScatteredBatch, GivesWhatOneDeviceComputes) {
  constexpr int64_t kImages = 5;
  const Graph whole = network(kImages);
  const auto alone = plan_of(whole);
  alone->write(whole.inputs[0], images(kImages));
  alone->forward();
  const Tensor expected = alone->read(whole.outputs[0]);
  on_thread_ranks(3, [&](Communicator& all) {
    const std::vector<int64_t> shares = share_out(kImages, 3);
    const Graph part = network(shares[static_cast<size_t>(all.rank())]);
    const auto plan = plan_of(part);
    ScatteredBatch batch(all, part, all.rank() == 0 ? images(kImages) : Tensor(), shares);
    const PassTimes times = batch.run_pass(*plan);
    EXPECT_GE(times.scatter_end_ms, times.begin_ms);
    EXPECT_GE(times.end_ms, times.forward_end_ms);
    if (all.rank() > 0) return;
    const auto output = batch.output().values<float>();
    EXPECT_TRUE(std::ranges::equal(output, expected.values<float>()));
  });
}

}  // namespace
}  // namespace tacho
