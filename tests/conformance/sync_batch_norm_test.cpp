// Several devices whose batch norms have the statistics of all batches compute what one device computes of
// one large batch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <cstring>
#include <ostream>
#include <thread>
#include <tuple>

#include "base/cpu.h"
#include "engine/engines.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "kernels/blocked/blocked.h"
#include "models/zoo.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

constexpr int kUpdates = 5;
// In a deep network rounding may turn a ReLU or the choice of a maximum within some passes.
constexpr double kTolerance = 1e-5, kTurnedTolerance = 2e-2;
constexpr Sgd kRule = {.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-4};

// Where devices, which are threads here, add up their numbers in the order of their ranks.
class Meeting {
 public:
  explicit Meeting(int devices) : values_(static_cast<size_t>(devices)), barrier_(devices, AddUp{values_}) {}

  int devices() const { return static_cast<int>(values_.size()); }
  void sum(int rank, std::span<double> values) {
    values_[static_cast<size_t>(rank)] = values;
    barrier_.arrive_and_wait();
  }

 private:
  // Run by the last to come.
  struct AddUp {
    void operator()() noexcept {
      for (size_t i = 0; i < values[0].size(); ++i) {
        double sum = 0;
        for (const std::span<double> of_device : values) sum += of_device[i];
        for (const std::span<double> of_device : values) of_device[i] = sum;
      }
    }
    std::vector<std::span<double>>& values;
  };

  std::vector<std::span<double>> values_;
  std::barrier<AddUp> barrier_;
};

class Seat final : public SumOverDevices {
 public:
  Seat(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int devices() const override { return meeting_.devices(); }
  void sum(std::span<double> values) override { meeting_.sum(rank_, values); }

 private:
  Meeting& meeting_;
  int rank_;
};

void average(Plan& plan, Seat& seat) {
  for (const std::span<float> range : plan.gradients()) {
    std::vector<double> values(range.begin(), range.end());
    seat.sum(values);
    for (size_t i = 0; i < range.size(); ++i) range[i] = static_cast<float>(values[i] / seat.devices());
  }
}

// What training leaves on one device: of the first pass "prediction", "loss" and the gradients, which are the
// mean of all devices; then the parameters and statistics after the last update.
Outcome train(const EngineUnderTest& engine, const Graph& graph, const Material& material, Seat* seat) {
  const auto plan = engine.engine->compile(graph, clone(material.weights),
                                           {.threads = 1,
                                            .update = kRule,
                                            .low_memory = engine.low_memory,
                                            .kernel = engine.kernel,
                                            .batch_norm_sums = seat});
  run_anywhere();
  for (size_t i = 0; i < graph.inputs.size(); ++i) plan->write(graph.inputs[i], material.inputs[i]);
  Outcome outcome;
  for (int update = 0; update < kUpdates; ++update) {
    plan->forward();
    plan->backward();
    if (seat != nullptr) average(*plan, *seat);
    if (update == 0) {
      outcome.emplace("prediction", plan->read(graph.outputs[0]));
      outcome.emplace("loss", plan->read(graph.outputs[1]));
      for (const auto& [parameter, gradient] : graph.gradients)
        outcome.emplace("gradient of " + graph.value(parameter).name, plan->read(gradient));
    }
    plan->update();
  }
  for (const ValueId id : graph.weights()) outcome.emplace(graph.value(id).name, plan->read(id));
  return outcome;
}

// Images [first, first + count).
template<typename T>
Tensor part(const Tensor& whole, int64_t first, int64_t count) {
  Shape shape = whole.shape();
  const auto image = static_cast<size_t>(whole.size() / shape[0]);
  shape[0] = count;
  return Tensor::from<T>(shape, whole.values<T>().subspan(static_cast<size_t>(first) * image,
                                                          static_cast<size_t>(count) * image));
}

Material part(const Material& whole, int64_t first, int64_t count) {
  Material result;
  for (const Tensor& input : whole.inputs) {
    result.inputs.push_back(input.dtype() == DType::f32 ? part<float>(input, first, count)
                                                        : part<int64_t>(input, first, count));
  }
  result.weights = clone(whole.weights);
  return result;
}

double norm(const Tensor& tensor) {
  double squares = 0;
  for (const double value : tensor.values<float>()) squares += value * value;
  return std::sqrt(squares);
}

double relative_distance(const Tensor& truth, const Tensor& other) {
  Tensor difference = truth.clone();
  for (size_t i = 0; i < static_cast<size_t>(truth.size()); ++i)
    difference.values<float>()[i] -= other.values<float>()[i];
  return norm(difference) / norm(truth);
}

ValueId conv_norm_relu(Builder& b, const std::string& name, ValueId x, int64_t channels) {
  const size_t axes = b.shape(x).size() - 2;
  const ConvolutionOptions options = {
      .channels = channels, .kernel = Extents(axes, 3), .padding = Extents(axes, 1), .bias = false};
  return b.relu(name + ".relu", b.batch_norm(name + ".bn", b.convolution(name + ".conv", x, options)));
}

Graph classifier(Builder& b, ValueId x) {
  x = b.flatten("flatten", b.global_average_pool("pool", x));
  return b.finish(b.linear("fc", x, {.features = 7}));
}

// With channels that do not fill their blocks, and a batch norm without and one with a ReLU.
Graph residual(int64_t batch) {
  Builder b("residual");
  const ValueId x = conv_norm_relu(b, "a", b.input("input", {batch, 3, 9, 11}), 13);
  const ValueId y = conv_norm_relu(b, "b", x, 10);
  const ConvolutionOptions options = {.channels = 13, .kernel = {1, 1}, .bias = false};
  const ValueId z = b.batch_norm("c.bn", b.convolution("c.conv", y, options), 1e-3, 0.3);
  return classifier(b, b.relu("relu", b.add("add", x, z)));
}

Graph volume(int64_t batch) {
  Builder b("volume");
  const ValueId x = conv_norm_relu(b, "a", b.input("input", {batch, 2, 3, 6, 5}), 9);
  return classifier(b, conv_norm_relu(b, "b", x, 16));
}

Graph resnet18(int64_t batch) {
  return build_model(find_model("resnet18"), {.batch = batch, .image = {33, 35}, .classes = 7});
}

struct Network {
  const char* name;
  Graph (*build)(int64_t batch);
  int64_t batch;  // of a device
  double tolerance_after_updates;
};
void PrintTo(const Network& of, std::ostream* out) { *out << of.name; }

struct Subject {
  const char* name;
  EngineUnderTest engine;
  EngineUnderTest truth = engine;  // on one device
};
void PrintTo(const Subject& of, std::ostream* out) { *out << of.name; }

class DevicesInSync : public testing::TestWithParam<std::tuple<Subject, Network, int>> {
 protected:
  void SetUp() override {
    if (engine().engine->name() == "native" && !blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  }

  const EngineUnderTest& engine() const { return std::get<0>(GetParam()).engine; }
  int devices() const { return std::get<2>(GetParam()); }
  int64_t batch() const { return std::get<1>(GetParam()).batch; }
  double tolerance_after_updates() const { return std::get<1>(GetParam()).tolerance_after_updates; }
  Graph graph(int64_t images) const {
    return gradient(std::get<1>(GetParam()).build(images), Loss::softmax_cross_entropy);
  }

  std::vector<Outcome> train_devices(const Material& whole) const {
    const Graph network = graph(batch());
    Meeting meeting(devices());
    std::vector<Outcome> outcomes(static_cast<size_t>(devices()));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < devices(); ++rank) {
      threads.emplace_back([&, rank] {
        Seat seat(meeting, rank);
        outcomes[static_cast<size_t>(rank)] =
            train(engine(), network, part(whole, rank * batch(), batch()), &seat);
      });
    }
    threads.clear();
    return outcomes;
  }
};

TEST_P(DevicesInSync, TrainLikeOneWithAllImages) {
  const Graph network = graph(devices() * batch());
  const Material material = make_material(network, 53);
  const Outcome truth = train(std::get<0>(GetParam()).truth, network, material, nullptr);
  const std::vector<Outcome> outcomes = train_devices(material);

  double loss = 0;
  for (int rank = 0; rank < devices(); ++rank) {
    const Outcome& outcome = outcomes[static_cast<size_t>(rank)];
    const Tensor expected = part<float>(truth.at("prediction"), rank * batch(), batch());
    EXPECT_LT(relative_distance(expected, outcome.at("prediction")), kTolerance) << rank;
    loss += outcome.at("loss").values<float>()[0] / devices();
  }
  EXPECT_NEAR(loss / truth.at("loss").values<float>()[0], 1, kTolerance);
  for (const auto& [parameter, gradient] : network.gradients) {
    const std::string name = "gradient of " + network.value(parameter).name;
    EXPECT_LT(relative_distance(truth.at(name), outcomes[0].at(name)), kTolerance) << name;
  }
  for (const ValueId id : network.weights()) {
    const std::string& name = network.value(id).name;
    const Tensor& first = outcomes[0].at(name);
    EXPECT_LT(relative_distance(truth.at(name), first), tolerance_after_updates()) << name;
    for (const Outcome& outcome : outcomes)
      EXPECT_EQ(std::memcmp(outcome.at(name).raw(), first.raw(), first.bytes()), 0) << name;
  }
}

Subject reference() { return {"reference", find_engine("reference")}; }
Subject native() { return {"native", {find_engine("native"), "onednn"}}; }
Subject native_low_memory() { return {"native_low_memory", {find_engine("native"), "onednn", true}}; }

std::vector<Subject> subjects() {
  std::vector<Subject> all = {reference(), native(), native_low_memory()};
  for (const EngineUnderTest& engine : engines_under_test()) {
    // Whose batch norm on one device sums in single precision.
    if (engine.engine->name() == "torch") all.push_back({"torch", engine, find_engine("reference")});
  }
  return all;
}

constexpr Network kResnet18 = {"resnet18", resnet18, 3, kTurnedTolerance};

std::string name_of(const testing::TestParamInfo<std::tuple<Subject, Network, int>>& test) {
  const auto& [subject, network, devices] = test.param;
  return fmt::format("{}_{}_on_{}", subject.name, network.name, devices);
}

INSTANTIATE_TEST_SUITE_P(Small, DevicesInSync,
                         testing::Combine(testing::ValuesIn(subjects()),
                                          testing::Values(Network{"residual", residual, 3, kTolerance},
                                                          Network{"volume", volume, 2, kTolerance}),
                                          testing::Values(1, 2, 3, 4)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Deep, DevicesInSync,
                         testing::Values(std::tuple{reference(), kResnet18, 2},
                                         std::tuple{native(), kResnet18, 2},
                                         std::tuple{native(), kResnet18, 3},
                                         std::tuple{native(), kResnet18, 4},
                                         std::tuple{native_low_memory(), kResnet18, 2}),
                         name_of);

}  // namespace
}  // namespace tacho::conformance
