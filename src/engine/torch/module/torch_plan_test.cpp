// What only GPUs do otherwise, on the CPU: scaled losses, gradients that are staged in the host's memory or
// stay where they are, and the speed of products.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/torch/module/torch_module.h"
#include "graph/builder.h"
#include "graph/gradient.h"

namespace tacho {
namespace {

const TorchModule& module() {
  void* const library = dlopen(TACHO_TORCH_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<TorchModuleEntry>(dlsym(library, kTorchModuleEntry))();
}

// Two classes of images with two values, from weights that are 0: the gradient is half of the image, so that
// one of these overflows where it is scaled by 1024 and not by 512.
constexpr float kModerate = 3, kLarge = 1e36f;

Graph training_graph(int layers) {
  Builder b("linear");
  ValueId x = b.input("x", {1, 2});
  for (int i = 0; i < layers; ++i) x = b.linear(fmt::format("fc{}", i), x, {.features = 2, .bias = false});
  return gradient(b.finish(x), Loss::softmax_cross_entropy);
}

class LikeGpu : public testing::Test {
 protected:
  explicit LikeGpu(int layers = 1, bool gradients_on_device = false) : graph_(training_graph(layers)) {
    Weights weights;
    for (const ValueId id : graph_.weights()) {
      const float value = layers == 1 ? 0 : 1;
      weights.emplace(graph_.value(id).name,
                      Tensor::from<float>({2, 2}, std::vector<float>{value, 0, 0, value}));
    }
    plan_ = module().compile_like_gpu(
        graph_, std::move(weights),
        {.update = Sgd{.learning_rate = 1, .momentum = 0}, .gradients_on_device = gradients_on_device});
    plan_->write(graph_.inputs[1], Tensor::from<int64_t>({1}, std::vector<int64_t>{1}));
  }

  void backward_of(float image, GradientSink* sink = nullptr) {
    plan_->write(graph_.inputs[0], Tensor::from<float>({1, 2}, std::vector<float>{image, image}));
    plan_->forward();
    plan_->backward(sink);
  }
  float first(ValueId id) const { return plan_->read(id).values<float>()[0]; }
  float gradient_value() const { return first(graph_.gradients[0].gradient); }
  float weight() const { return first(graph_.gradients[0].parameter); }

  Graph graph_;
  std::unique_ptr<Plan> plan_;
};

TEST_F(LikeGpu, GradientsAndLossAreNotScaledAfterwards) {
  backward_of(kModerate);
  EXPECT_FLOAT_EQ(gradient_value(), kModerate / 2);
  EXPECT_FLOAT_EQ(first(graph_.outputs[1]), std::log(2.0f));
  plan_->update();
  EXPECT_FLOAT_EQ(weight(), -kModerate / 2);
  EXPECT_EQ(plan_->steps_left_out(), 0);
}

TEST_F(LikeGpu, AStepThatOverflowsIsLeftOutAndTheNextScaledByLess) {
  backward_of(kLarge);
  EXPECT_FALSE(std::isfinite(gradient_value()));
  plan_->update();
  EXPECT_EQ(weight(), 0);
  EXPECT_EQ(plan_->steps_left_out(), 1);
  EXPECT_EQ(plan_->counters().updates, 0);
  backward_of(kLarge);
  EXPECT_FLOAT_EQ(gradient_value(), kLarge / 2);
  plan_->update();
  EXPECT_FLOAT_EQ(weight(), -kLarge / 2);
  EXPECT_EQ(plan_->steps_left_out(), 1);
}

TEST_F(LikeGpu, TheScaleCanBeReducedWithoutAStep) {
  EXPECT_TRUE(plan_->reduce_loss_scale());
  backward_of(kLarge);
  EXPECT_FLOAT_EQ(gradient_value(), kLarge / 2);
}

// Another device's gradient is twice as large.
class Doubling final : public GradientSink {
 public:
  void take(std::span<float> gradients) override {
    for (float& value : gradients) value *= 2;
    taken += gradients.size();
  }
  size_t taken = 0;
};

TEST_F(LikeGpu, WhatDevicesExchangeIsWhatTheUpdateTakes) {
  Doubling sink;
  backward_of(kModerate, &sink);
  EXPECT_EQ(sink.taken, 4u);
  EXPECT_FLOAT_EQ(gradient_value(), kModerate / 2);  // its own are staged elsewhere
  EXPECT_FLOAT_EQ(plan_->gradients()[0][0], kModerate);
  plan_->update();
  EXPECT_FLOAT_EQ(weight(), -kModerate);
}

class OnDevice : public LikeGpu {
 protected:
  OnDevice() : LikeGpu(1, true) {}
};

TEST_F(OnDevice, DevicesExchangeGradientsWhereTheyAre) {
  Doubling sink;
  backward_of(kModerate, &sink);
  EXPECT_EQ(sink.taken, 4u);
  EXPECT_FLOAT_EQ(gradient_value(), kModerate);
  plan_->update();
  EXPECT_FLOAT_EQ(weight(), -kModerate);
}

TEST_F(OnDevice, WithoutASinkTheyAreTheSame) {
  backward_of(kModerate);
  EXPECT_FLOAT_EQ(gradient_value(), kModerate / 2);
}

// Notes what the gradient of the last range was when each was handed over.
class Watching final : public GradientSink {
 public:
  explicit Watching(std::span<const float> last) : last_(last) {}
  void take(std::span<float> gradients) override {
    first_values.push_back(gradients[0]);
    last_was_0.push_back(std::ranges::all_of(last_, [](float value) { return value == 0; }));
  }
  std::vector<float> first_values;
  std::vector<bool> last_was_0;

 private:
  std::span<const float> last_;
};

class TwoLayersOnDevice : public LikeGpu {
 protected:
  TwoLayersOnDevice() : LikeGpu(2, true) {}
};

TEST_F(TwoLayersOnDevice, HandGradientsOverUnscaledWhileOthersAreStillComputed) {
  Watching sink(plan_->gradients()[1]);
  backward_of(kModerate, &sink);
  EXPECT_EQ(sink.last_was_0, (std::vector<bool>{true, false}));
  ASSERT_EQ(sink.first_values.size(), 2u);
  for (const float value : sink.first_values) EXPECT_FLOAT_EQ(value, kModerate / 2);
}

TEST(ProductSpeed, IsMeasuredInEachPrecision) {
  for (const char* precision : {"f32", "bf16"}) {
    const auto gflops = module().measure_product_gflops("cpu", precision, 192);
    ASSERT_TRUE(gflops) << precision;
    EXPECT_GT(*gflops, 0);
    EXPECT_TRUE(std::isfinite(*gflops));
  }
}

TEST(ProductSpeed, IsUnknownWhereMatricesDoNotFit) {
  EXPECT_FALSE(module().measure_product_gflops("cpu", "f32", int64_t{1} << 23));
}

TEST(Precision, OfOnePlanIsNotThatOfTheNext) {
  constexpr float kBetweenTwoOfBf16 = 1 + 1.0f / 1024;
  Builder b("linear");
  const ValueId x = b.input("x", {1, 1});
  const Graph graph = b.finish(b.linear("fc", x, {.features = 1, .bias = false}));
  const auto compile_in = [&](const char* precision) {
    Weights weights;
    weights.emplace("fc.weight", Tensor::from<float>({1, 1}, std::vector<float>{kBetweenTwoOfBf16}));
    auto plan = module().compile(graph, std::move(weights), {.precision = precision});
    plan->write(graph.inputs[0], Tensor::from<float>({1, 1}, std::vector<float>{1}));
    return plan;
  };
  const auto exact = compile_in("f32"), rounded = compile_in("bf16");
  const auto result_of = [&](Plan& plan) {
    plan.forward();
    return plan.read(graph.outputs[0]).values<float>()[0];
  };
  EXPECT_EQ(result_of(*rounded), 1);
  EXPECT_EQ(result_of(*exact), kBetweenTwoOfBf16);
}

}  // namespace
}  // namespace tacho
