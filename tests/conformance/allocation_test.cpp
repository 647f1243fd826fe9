#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "allocation_counter.h"
#include "engine/engines.h"
#include "kernels/blocked/blocked.h"
#include "models/zoo.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

TEST(AllocationCounter, CountsWhatTheProgramAllocatesDirectlyOrThroughTheStandardLibrary) {
  std::string text;
  const AllocationCounter counter;
  const std::unique_ptr<int> object = std::make_unique<int>(1);
  const int64_t after_object = counter.count();
  text.append(1000, 'x');  // allocates inside libstdc++
  const int64_t after_text = counter.count();
  EXPECT_EQ(after_object, 1);
  EXPECT_EQ(after_text, 2);
  EXPECT_EQ(*object, 1);
}

TEST(AllocationCounter, CountsOtherThreadsToo) {
  std::unique_ptr<int> object;
  const AllocationCounter counter;
  std::thread([&] { object = std::make_unique<int>(1); }).join();
  EXPECT_EQ(counter.count(), 2);  // the thread's own state is the other
}

int64_t allocations_of_a_second_pass(Plan& plan, bool training) {
  const auto pass = [&] {
    plan.forward();
    if (!training) return;
    plan.backward();
    plan.update();
  };
  pass();
  const AllocationCounter counter;
  pass();
  return counter.count();
}

class OneDevice final : public SumOverDevices {
 public:
  int devices() const override { return 1; }
  void sum(std::span<double>) override {}
};

class NativePass : public testing::TestWithParam<std::string> {
 protected:
  Graph graph() const {
    const bool deep = GetParam() == "unet3d_lite";
    return build_model(find_model(GetParam()),
                       {.batch = 2, .image = deep ? Extents{4, 16, 16} : Extents{107, 107}, .classes = 7});
  }

  int64_t allocations(const Graph& network, bool training, const UpdateRule& rule = Sgd{},
                      SumOverDevices* sums = nullptr) const {
    const auto plan = prepared(find_engine("native"), network, make_material(network, 1), rule, sums);
    return allocations_of_a_second_pass(*plan, training);
  }
};

TEST_P(NativePass, InfersWithoutAllocating) { EXPECT_EQ(allocations(graph(), false), 0); }

TEST_P(NativePass, TrainsWithoutAllocating) {
  const Graph network = gradient(graph(), find_model(GetParam()).loss);
  EXPECT_EQ(allocations(network, true), 0);
  EXPECT_EQ(allocations(network, true, Adam{}), 0);
  if (!blocked::supported()) return;
  OneDevice sums;
  EXPECT_EQ(allocations(network, true, Sgd{}, &sums), 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, NativePass,
                         testing::Values("squeezenet1_1", "resnet18", "densenet121", "inception_v3",
                                         "unet3d_lite"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tacho::conformance
