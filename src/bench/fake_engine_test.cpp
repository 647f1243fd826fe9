// Takes the place of libtorch's engine, which is optional: the library's own stands in an object of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/environment_variable.h"
#include "base/error.h"
#include "bench/runner.h"
#include "distributed/group.h"
#include "distributed/seat.h"
#include "distributed/thread_ranks.h"
#include "engine/reference/reference_engine.h"
#include "engine/torch/torch_engine.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

// Computes nothing; knows by which word its devices found each other.
class NamedExchange final : public DeviceExchange {
 public:
  explicit NamedExchange(std::string word) : word_(std::move(word)) {}
  std::string_view name() const override { return word_; }
  void start(std::span<float>) override {}
  double finish() override { return 0; }

 private:
  std::string word_;
};

// What rank 0 of devices that can exchange gradients tells the others; none can where it is empty.
std::function<std::string()> make_word;

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
  std::unique_ptr<DeviceExchange> join_devices(const std::string& device, int, int,
                                               const FromFirst& from_first) const override {
    if (device == "cpu" || !make_word) return nullptr;
    return std::make_unique<NamedExchange>(from_first(make_word));
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

TEST(Gpus, ExchangeGradientsThemselvesWhereTheyCan) {
  std::atomic<int> made = 0;
  make_word = [&] { return fmt::format("word {}", ++made); };
  on_thread_ranks(2, [](Communicator& all) {
    const Execution execution = {.engine = "torch", .devices = 2};
    EXPECT_EQ(training_group(all, execution, "cuda:0")->way(), "word 1");
    EXPECT_EQ(training_group(all, execution, "cpu")->way(), "ring");
  });
  EXPECT_EQ(made, 1);  // by rank 0
  make_word = nullptr;
  on_thread_ranks(2, [](Communicator& all) {
    const auto group = training_group(all, {.engine = "torch", .devices = 2}, "cuda:0");
    EXPECT_EQ(group->way(), "ring through the host");
    EXPECT_FALSE(group->reaches_devices());
  });
  const auto ranks = alone();
  EXPECT_EQ(training_group(*ranks, {.engine = "torch"}, "cuda:0")->way(), "");
}

TEST(Gpus, ThatCannotFindEachOtherFailOnEveryRank) {
  make_word = []() -> std::string { throw std::runtime_error("no word"); };
  on_thread_ranks(2, [](Communicator& all) {
    EXPECT_THROW(training_group(all, {.engine = "torch", .devices = 2}, "cuda:0"), std::runtime_error);
  });
  make_word = nullptr;
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
