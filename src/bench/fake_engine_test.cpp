// Takes the place of libtorch's engine, which is optional: the library's own stands in an object of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/environment_variable.h"
#include "base/error.h"
#include "bench/runner.h"
#include "distributed/seat.h"
#include "distributed/thread_ranks.h"
#include "engine/reference/reference_engine.h"
#include "engine/torch/torch_engine.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

// The reference whose classifier is wrong, and more so in bf16. It has two GPUs.
class WrongEngine final : public Engine {
 public:
  std::string_view name() const override { return kTorch; }
  std::string version() const override { return "0"; }
  std::vector<std::string> devices() const override { return {"cpu", "cuda:0", "cuda:1"}; }
  std::vector<std::string> precisions(const std::string&) const override { return {"f32", "bf16"}; }
  std::string bus_id(const std::string& device) const override {
    return device == "cpu" ? "" : device == "cuda:0" ? "0000:65:00.0" : "0000:b3:00.0";
  }
  int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const override {
    return reference_engine().estimate_memory_bytes(graph, options);
  }
  std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                const CompileOptions& options) const override {
    const float factor = options.precision == kSinglePrecision ? 1.01f : 2.0f;
    for (float& weight : weights.at("classifier.1.weight").values<float>()) weight *= factor;
    return reference_engine().compile(graph, std::move(weights), options);
  }
};

Case cell_of(const std::string& engine, Mode mode = Mode::infer) {
  return {.model = "squeezenet1_1",
          .mode = mode,
          .execution = {.engine = engine},
          .batch = 2,
          .image = {32, 32},
          .classes = 10,
          .warmup = 0,
          .repeat = 1};
}

TEST(Disagreement, WithTheFirstEngineIsAFailureOfTheOther) {
  for (const Mode mode : {Mode::infer, Mode::train}) {
    const std::vector<Case> cells = {cell_of("reference", mode), cell_of("torch", mode)};
    const std::vector<Measurement> results = run_interleaved(cells, {});
    EXPECT_EQ(results[0].status, Status::measured) << results[0].reason;
    EXPECT_EQ(results[1].status, Status::failed);
    EXPECT_THAT(results[1].reason, HasSubstr("its output is not that of the same work computed otherwise"));
    EXPECT_TRUE(results[1].passes.samples_ms.empty());
  }
}

TEST(Disagreement, OfEnginesThatDoOtherWorkIsNone) {
  std::vector<Case> cells = {cell_of("reference"), cell_of("torch")};
  cells[1].seed = 1;
  for (const Measurement& result : run_interleaved(cells, {})) EXPECT_EQ(result.status, Status::measured);
}

TEST(Disagreement, WithSinglePrecisionIsAFailureOfTheReducedOne) {
  Case cell = cell_of("torch");
  EXPECT_EQ(run_case(cell, {}).status, Status::measured);
  cell.execution.precision = "bf16";
  const Measurement result = run_case(cell, {});
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.reason, HasSubstr("apart, of at most 0.3"));
}

TEST(Gpus, ThatAreTooFewAreRefusedBeforeAnythingRuns) {
  const World world(alone(), "call");
  Execution execution = {.engine = "torch", .device = "cuda", .devices = 2};
  EXPECT_NO_THROW(check_seat(world, execution));
  execution.devices = 4;
  EXPECT_THAT(
      [&] { check_seat(world, execution); },
      ::testing::ThrowsMessage<UserError>(
          "--device cuda: device 3 of this machine would be cuda:3, and there are cpu, cuda:0, cuda:1"));
}

TEST(Gpus, ThatAreTooFewForALaunchersRanksAreMissedByThoseThatHaveNone) {
  const EnvironmentVariable launched("OMPI_COMM_WORLD_SIZE", "4");
  on_thread_ranks(4, [](Communicator& all) {
    const World world(all.first(4), "call");
    const auto check = [&](int devices) {
      check_seat(world, {.engine = "torch", .device = "cuda", .devices = devices});
    };
    EXPECT_NO_THROW(check(2));
    if (world.rank() == 2) {
      EXPECT_THAT([&] { check(3); },
                  ::testing::ThrowsMessage<UserError>(HasSubstr("device 2 of this machine would be cuda:2")));
    } else {
      EXPECT_NO_THROW(check(3));
    }
  });
}

TEST(Gpus, AreNamedByWhereTheySit) {
  Case cell = cell_of("torch");
  EXPECT_EQ(run_case(cell, {}).gpu, "");
  cell.execution.device = "cuda";
  EXPECT_EQ(run_case(cell, {}).gpu, "0000:65:00.0");
  cell.execution.device = "cuda:1";
  EXPECT_EQ(run_case(cell, {}).gpu, "0000:b3:00.0");
}

}  // namespace

const Engine* torch_engine() {
  static const WrongEngine engine;
  return &engine;
}

}  // namespace tacho
