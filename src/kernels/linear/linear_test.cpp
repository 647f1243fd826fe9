#include "kernels/linear/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/buffer.h"
#include "base/cpu.h"
#include "kernels/linear/linear_reference.h"

namespace tacho::linear {
namespace {

bool has_avx2() { return widest_instruction_set() >= InstructionSet::avx2; }

std::vector<float> some_floats(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
  return values;
}

float* floats(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

struct Problem {
  explicit Problem(const Layer& l)
      : layer(l),
        src(some_floats(l.batch * l.inputs, 1)),
        weights(some_floats(l.outputs * l.inputs, 2)),
        bias(some_floats(l.outputs, 3)) {}

  std::vector<float> run(bool with_bias, bool relu, int threads) const {
    Buffer packed(static_cast<size_t>(packed_weights_floats(layer)) * sizeof(float));
    Buffer scratch(static_cast<size_t>(scratch_floats(layer, threads)) * sizeof(float));
    pack_weights(layer, weights.data(), floats(packed), threads);
    std::vector<float> dst(static_cast<size_t>(layer.batch * layer.outputs), 77);
    forward(layer, {src.data(), floats(packed), with_bias ? bias.data() : nullptr, relu, dst.data()},
            floats(scratch), threads);
    return dst;
  }

  Layer layer;
  std::vector<float> src, weights, bias;
};

double rms_error(const std::vector<float>& values, const std::vector<double>& truth) {
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i) sum += (values[i] - truth[i]) * (values[i] - truth[i]);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

class EveryLayer : public testing::TestWithParam<Layer> {};

TEST_P(EveryLayer, ErrsNoMoreThanADirectSum) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Problem problem(GetParam());
  const Layer& layer = problem.layer;
  std::vector<double> truth(static_cast<size_t>(layer.batch * layer.outputs));
  std::vector<float> direct(truth.size());
  for (const bool fused : {false, true}) {
    const float* bias = fused ? problem.bias.data() : nullptr;
    forward_reference(layer, problem.src.data(), problem.weights.data(), bias, fused, truth.data());
    forward_reference(layer, problem.src.data(), problem.weights.data(), bias, fused, direct.data());
    EXPECT_LE(rms_error(problem.run(fused, fused, 2), truth), 1.2 * rms_error(direct, truth) + 1e-7);
  }
}

TEST_P(EveryLayer, DoesNotDependOnTheNumberOfThreads) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  const Problem problem(GetParam());
  const std::vector<float> alone = problem.run(true, true, 1);
  for (const int threads : {2, 3, 9}) EXPECT_EQ(problem.run(true, true, threads), alone) << threads;
}

INSTANTIATE_TEST_SUITE_P(Linear, EveryLayer,
                         testing::Values(Layer{1, 1, 1}, Layer{2, 7, 5}, Layer{6, 256, 16}, Layer{7, 257, 17},
                                         Layer{16, 1000, 100}, Layer{13, 515, 33}, Layer{32, 300, 48},
                                         Layer{19, 255, 10}),
                         [](const auto& test) {
                           const Layer& layer = test.param;
                           return std::to_string(layer.batch) + "_" + std::to_string(layer.inputs) + "_" +
                                  std::to_string(layer.outputs);
                         });

TEST(Linear, SaysWhyALayerIsNotSupported) {
  if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
  EXPECT_EQ(why_unsupported({0, 1, 1}), "the batch, inputs and outputs must be positive");
}

}  // namespace
}  // namespace tacho::linear
