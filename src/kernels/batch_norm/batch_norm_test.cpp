#include "kernels/batch_norm/batch_norm.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "kernels/test_lanes.h"

namespace tacho::batch_norm {
namespace {

constexpr double kEpsilon = 1e-5;

std::vector<float> random_floats(int64_t count, uint64_t seed, float mean = 0) {
  std::vector<float> values(static_cast<size_t>(count));
  Random(seed).fill_normal(values, mean, 1);
  return values;
}

// Activations with odd counts, as slices of tensors that are one block of channels wider.
class BatchNorm : public OnBlocks<bool> {
 protected:
  int64_t index(int64_t image, int64_t channel, int64_t cell) const {
    return image * stride_ + (channel / lanes_ * sweep_.cells + cell) * lanes_ + channel % lanes_;
  }

  template<typename Function>
  void for_cells(int64_t channel, const Function& function) const {
    for (int64_t image = 0; image < sweep_.batch; ++image) {
      for (int64_t cell = 0; cell < sweep_.cells; ++cell)
        function(static_cast<size_t>(index(image, channel, cell)));
    }
  }

  Parameters parameters() const {
    return {weight_.data(), bias_.data(), mean_.data(), variance_.data(), kEpsilon, relu_};
  }

  double normal(size_t at, int64_t channel) const {
    const auto c = static_cast<size_t>(channel);
    return (x_[at] - mean_[c]) / std::sqrt(variance_[c] + kEpsilon);
  }
  double result(size_t at, int64_t channel) const {
    const auto c = static_cast<size_t>(channel);
    return weight_[c] * normal(at, channel) + bias_[c];
  }

  // As if each image were the batch of a device.
  void statistics_of_devices() {
    std::vector<double> own(2 * channels_), sums(2 * channels_);
    for (int64_t device = 0; device < 3; ++device) {
      moments(one_image_, {x_.data() + device * stride_, stride_}, own.data(), scratch_.data());
      std::ranges::transform(sums, own, sums.begin(), std::plus());
    }
    statistics_of_sums(one_image_, sums.data(), 3, {mean_.data(), variance_.data()});
  }

  void expect_statistics(double tolerance) const {
    for (int64_t channel = 0; channel < sweep_.channels; ++channel) {
      double sum = 0, squares = 0;
      for_cells(channel, [&](size_t at) { sum += x_[at]; });
      const double mean = sum / 105;
      for_cells(channel, [&](size_t at) { squares += (x_[at] - mean) * (x_[at] - mean); });
      EXPECT_NEAR(mean_[static_cast<size_t>(channel)], mean, tolerance);
      EXPECT_NEAR(variance_[static_cast<size_t>(channel)], squares / 105, tolerance);
    }
  }

  const bool relu_ = std::get<1>(GetParam());
  const Sweep sweep_ = on_blocks(Sweep{.batch = 3, .channels = lanes_ + 5, .cells = 35});
  const Sweep one_image_ = on_blocks(Sweep{.batch = 1, .channels = lanes_ + 5, .cells = 35});
  const size_t channels_ = static_cast<size_t>(sweep_.channels);
  const int64_t stride_ = 3 * 35 * lanes_;
  std::vector<float> x_ = random_floats(3 * stride_, 1, 5), dy_ = random_floats(3 * stride_, 2);
  std::vector<float> weight_ = random_floats(sweep_.channels, 3), bias_ = random_floats(sweep_.channels, 4);
  std::vector<float> mean_ = std::vector<float>(channels_), variance_ = std::vector<float>(channels_);
  std::vector<float> scratch_ = std::vector<float>(static_cast<size_t>(scratch_floats(sweep_)), NAN);
};

INSTANTIATE_TEST_SUITE_P(Blocks, BatchNorm, with_all_lanes(testing::Bool()), [](const auto& test) {
  return (std::get<1>(test.param) ? "with_relu_" : "without_relu_") + lanes_name(test);
});

TEST_P(BatchNorm, StatisticsEqualTheirDefinition) {
  statistics(sweep_, {x_.data(), stride_}, {mean_.data(), variance_.data()}, scratch_.data());
  expect_statistics(1e-6);
}

TEST_P(BatchNorm, StatisticsOfSeveralDevicesAreThoseOfAllImages) {
  statistics_of_devices();
  expect_statistics(1e-6);
}

TEST_P(BatchNorm, StatisticsOfSeveralDevicesAreRightFarFromZero) {
  for (float& value : x_) value += 3000;
  statistics_of_devices();
  expect_statistics(2e-4);  // a float near 3000 is no finer
}

TEST_P(BatchNorm, NormalizesAndFillsUpWithZeros) {
  statistics(sweep_, {x_.data(), stride_}, {mean_.data(), variance_.data()}, scratch_.data());
  std::vector<float> y(x_.size(), 77);
  normalize(sweep_, {x_.data(), stride_}, parameters(), {y.data(), stride_}, scratch_.data());
  for (int64_t channel = 0; channel < 2 * lanes_; ++channel) {
    for_cells(channel, [&](size_t at) {
      double expected = channel < sweep_.channels ? result(at, channel) : 0;
      if (relu_) expected = std::max(expected, 0.0);
      ASSERT_NEAR(y[at], expected, 1e-5);
    });
  }
  EXPECT_EQ(y[static_cast<size_t>(index(0, 2 * lanes_, 0))], 77);  // beyond the slice
}

TEST_P(BatchNorm, GradientsEqualTheirDefinition) {
  statistics(sweep_, {x_.data(), stride_}, {mean_.data(), variance_.data()}, scratch_.data());
  std::vector<float> dx = dy_, dweight(channels_), dbias(channels_);
  backward(sweep_, {x_.data(), stride_}, {dx.data(), stride_}, parameters(),
           {{dx.data(), stride_}, dweight.data(), dbias.data()}, scratch_.data());
  for (int64_t channel = 0; channel < sweep_.channels; ++channel) {
    const auto c = static_cast<size_t>(channel);
    const auto passed = [&](size_t at) {
      return relu_ && result(at, channel) <= 0 ? 0.0 : static_cast<double>(dy_[at]);
    };
    double sum = 0, weighted = 0;
    for_cells(channel, [&](size_t at) {
      sum += passed(at);
      weighted += passed(at) * normal(at, channel);
    });
    EXPECT_NEAR(dbias[c], sum, 1e-4);
    EXPECT_NEAR(dweight[c], weighted, 1e-4);
    for_cells(channel, [&](size_t at) {
      const double inner = passed(at) - (sum + normal(at, channel) * weighted) / 105;
      ASSERT_NEAR(dx[at], weight_[c] / std::sqrt(variance_[c] + kEpsilon) * inner, 1e-5);
    });
  }
}

TEST_P(BatchNorm, GradientsAreAddedToOthersInPlaceAndApart) {
  statistics(sweep_, {x_.data(), stride_}, {mean_.data(), variance_.data()}, scratch_.data());
  const std::vector<float> others = random_floats(3 * stride_, 6);
  std::vector<float> alone(x_.size()), in_place = others, apart(x_.size()), dweight(channels_),
                                       dbias(channels_);
  const auto run = [&](Source added, std::vector<float>& dx) {
    backward(sweep_, {x_.data(), stride_}, {dy_.data(), stride_}, parameters(),
             {{dx.data(), stride_}, dweight.data(), dbias.data(), added}, scratch_.data());
  };
  run({}, alone);
  run({in_place.data(), stride_}, in_place);
  run({others.data(), stride_}, apart);
  for (int64_t channel = 0; channel < sweep_.channels; ++channel) {
    for_cells(channel, [&](size_t at) {
      ASSERT_EQ(in_place[at], alone[at] + others[at]);
      ASSERT_EQ(apart[at], in_place[at]);
    });
  }
}

TEST_P(BatchNorm, GradientsOfSeveralDevicesAreThoseOfAllImages) {
  statistics_of_devices();
  std::vector<float> dx = dy_, dweight(channels_), dbias(channels_);
  backward(sweep_, {x_.data(), stride_}, {dx.data(), stride_}, parameters(),
           {{dx.data(), stride_}, dweight.data(), dbias.data()}, scratch_.data());

  std::vector<float> own_dweight(channels_), own_dbias(channels_), dweight_sums(channels_),
      dbias_sums(channels_);
  for (int64_t first = 0; first < 3 * stride_; first += stride_) {
    backward_parameters(one_image_, {x_.data() + first, stride_}, {dy_.data() + first, stride_}, parameters(),
                        own_dweight.data(), own_dbias.data(), scratch_.data());
    std::ranges::transform(dweight_sums, own_dweight, dweight_sums.begin(), std::plus());
    std::ranges::transform(dbias_sums, own_dbias, dbias_sums.begin(), std::plus());
  }
  const std::vector<float> others = random_floats(3 * stride_, 6);
  for (int64_t first = 0; first < 3 * stride_; first += stride_) {
    backward_data(one_image_, {x_.data() + first, stride_}, {dy_.data() + first, stride_}, parameters(),
                  {dweight_sums.data(), dbias_sums.data(), 3}, {others.data() + first, stride_},
                  {dy_.data() + first, stride_}, scratch_.data());
  }
  for (size_t channel = 0; channel < channels_; ++channel) {
    EXPECT_NEAR(dweight_sums[channel], dweight[channel], 1e-4);
    EXPECT_NEAR(dbias_sums[channel], dbias[channel], 1e-4);
  }
  for (int64_t channel = 0; channel < sweep_.channels; ++channel)
    for_cells(channel, [&](size_t at) { ASSERT_NEAR(dy_[at], dx[at] + others[at], 1e-5) << at; });
}

// A plane of 2^26 cells in 16 MiB: the same memory again and again.
class LongPlane {
 public:
  static constexpr int64_t kPiece = 16 << 20, kCells = 1 << 26;

  LongPlane(int64_t lanes, uint64_t seed, float mean)
      : lanes_(lanes), bytes_(static_cast<size_t>(kCells * lanes) * sizeof(float)) {
    const int file = memfd_create("plane", 0);
    if (file < 0 || ftruncate(file, kPiece) != 0) throw std::runtime_error("no memory for a plane");
    void* room = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) throw std::runtime_error("no addresses for a plane");
    data_ = static_cast<char*>(room);
    for (size_t at = 0; at < bytes_; at += kPiece)
      mmap(data_ + at, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
    Random(seed).fill_normal({reinterpret_cast<float*>(data_), kPiece / sizeof(float)}, mean, 1);
  }
  ~LongPlane() { munmap(data_, bytes_); }
  LongPlane(const LongPlane&) = delete;

  float* data() const { return reinterpret_cast<float*>(data_); }

  // Of function(index) for the cells of one channel: all pieces are alike.
  template<typename Function>
  double mean_of(int64_t channel, const Function& function) const {
    double sum = 0;
    for (int64_t i = channel; i < kPiece / 4; i += lanes_) sum += function(i);
    return sum / static_cast<double>(kPiece / 4 / lanes_);
  }

 private:
  int64_t lanes_;
  size_t bytes_;
  char* data_;
};

class LargeVolume : public OnBlocks<> {
 protected:
  const Sweep sweep_ = on_blocks(Sweep{.batch = 1, .channels = lanes_, .cells = LongPlane::kCells});
  const size_t channels_ = static_cast<size_t>(lanes_);
  std::vector<float> mean_ = std::vector<float>(channels_), variance_ = std::vector<float>(channels_);
  std::vector<float> scratch_ = std::vector<float>(static_cast<size_t>(scratch_floats(sweep_)), NAN);
};

INSTANTIATE_TEST_SUITE_P(Blocks, LargeVolume, with_all_lanes(), lanes_name);

TEST_P(LargeVolume, HasTheStatisticsOfItsPieces) {
  const LongPlane x(lanes_, 1, 100);
  statistics(sweep_, {x.data(), 0}, {mean_.data(), variance_.data()}, scratch_.data());
  for (int64_t channel = 0; channel < lanes_; ++channel) {
    const double mean = x.mean_of(channel, [&](int64_t i) { return x.data()[i]; });
    const double variance =
        x.mean_of(channel, [&](int64_t i) { return (x.data()[i] - mean) * (x.data()[i] - mean); });
    EXPECT_NEAR(mean_[static_cast<size_t>(channel)], mean, 1e-7 * mean);
    EXPECT_NEAR(variance_[static_cast<size_t>(channel)], variance, 1e-6 * variance);
  }
}

TEST_P(LargeVolume, HasTheGradientsOfItsPieces) {
  const LongPlane x(lanes_, 2, 0), dy(lanes_, 3, 3);
  const std::vector<float> ones(channels_, 1), zeros(channels_, 0);
  std::vector<float> dweight(channels_), dbias(channels_);
  std::vector<double> sums, products;
  for (int64_t channel = 0; channel < lanes_; ++channel) {
    sums.push_back(LongPlane::kCells * dy.mean_of(channel, [&](int64_t i) { return dy.data()[i]; }));
    products.push_back(LongPlane::kCells * dy.mean_of(channel, [&](int64_t i) {
      return static_cast<double>(dy.data()[i]) * x.data()[i];
    }));
  }
  backward(sweep_, {x.data(), 0}, {dy.data(), 0},
           {ones.data(), zeros.data(), zeros.data(), ones.data(), 0, false},
           {{dy.data(), 0}, dweight.data(), dbias.data()}, scratch_.data());
  for (size_t channel = 0; channel < channels_; ++channel) {
    EXPECT_NEAR(dbias[channel], sums[channel], 1e-6 * sums[channel]);
    EXPECT_NEAR(dweight[channel], products[channel], 1e-6 * sums[channel]);
  }
}

// Few channels and many cells: planes are cut into parts.
struct ResultsOfAVolume {
  std::vector<float> y, dx, mean, variance, dweight, dbias;
  bool operator==(const ResultsOfAVolume&) const = default;
};

ResultsOfAVolume results_of_a_volume(const Sweep& sweep, const std::vector<float>& x,
                                     const std::vector<float>& dy, int threads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const auto channels = static_cast<size_t>(sweep.channels);
  const int64_t stride = 2 * sweep.cells * sweep.lanes;
  const std::vector<float> weight = random_floats(sweep.channels, 3), bias = random_floats(sweep.channels, 4);
  std::vector<float> scratch(static_cast<size_t>(scratch_floats(sweep)), NAN);
  ResultsOfAVolume result = {x,
                             dy,
                             std::vector<float>(channels),
                             std::vector<float>(channels),
                             std::vector<float>(channels),
                             std::vector<float>(channels)};
  statistics(sweep, {x.data(), stride}, {result.mean.data(), result.variance.data()}, scratch.data());
  const Parameters parameters = {weight.data(),          bias.data(), result.mean.data(),
                                 result.variance.data(), kEpsilon,    true};
  normalize(sweep, {x.data(), stride}, parameters, {result.y.data(), stride}, scratch.data());
  backward(sweep, {x.data(), stride}, {dy.data(), stride}, parameters,
           {{result.dx.data(), stride}, result.dweight.data(), result.dbias.data()}, scratch.data());
  omp_set_num_threads(before);
  return result;
}

class BatchNormOfAVolume : public OnBlocks<> {};

INSTANTIATE_TEST_SUITE_P(Blocks, BatchNormOfAVolume, with_all_lanes(), lanes_name);

TEST_P(BatchNormOfAVolume, EqualsItsDefinitionAndDependsNotOnTheThreads) {
  const Sweep sweep = on_blocks(Sweep{.batch = 1, .channels = lanes_ + 4, .cells = 17 * 23 * 29});
  ASSERT_GT(blocked::parts_of(sweep).parts, 7);
  const std::vector<float> x = random_floats(2 * sweep.cells * lanes_, 1, 5),
                           dy = random_floats(2 * sweep.cells * lanes_, 2, 1);
  const ResultsOfAVolume alone = results_of_a_volume(sweep, x, dy, 1);
  for (const int threads : {3, 7, 64})
    EXPECT_EQ(results_of_a_volume(sweep, x, dy, threads), alone) << threads;
  const std::vector<float> weight = random_floats(sweep.channels, 3), bias = random_floats(sweep.channels, 4);
  for (int64_t channel = 0; channel < sweep.channels; ++channel) {
    const auto c = static_cast<size_t>(channel);
    const auto index = [&](int64_t cell) {
      return static_cast<size_t>((channel / lanes_ * sweep.cells + cell) * lanes_ + channel % lanes_);
    };
    const auto mean_of = [&](const auto& function) {
      double sum = 0;
      for (int64_t cell = 0; cell < sweep.cells; ++cell) sum += function(index(cell));
      return sum / static_cast<double>(sweep.cells);
    };
    const double mean = mean_of([&](size_t at) { return x[at]; });
    const double variance = mean_of([&](size_t at) { return (x[at] - mean) * (x[at] - mean); });
    EXPECT_NEAR(alone.mean[c], mean, 1e-6);
    EXPECT_NEAR(alone.variance[c], variance, 1e-6);
    const double deviation = std::sqrt(variance + kEpsilon);
    const auto normal = [&](size_t at) { return (x[at] - mean) / deviation; };
    const auto result = [&](size_t at) { return weight[c] * normal(at) + bias[c]; };
    // Where rounding alone decides whether the ReLU lets a value pass, its gradient may be missing.
    const double dbias = mean_of([&](size_t at) { return result(at) > 0 ? dy[at] : 0.0f; });
    const double dweight = mean_of([&](size_t at) { return result(at) > 0 ? dy[at] * normal(at) : 0.0; });
    EXPECT_NEAR(alone.dbias[c] / static_cast<double>(sweep.cells), dbias, 1e-5);
    EXPECT_NEAR(alone.dweight[c] / static_cast<double>(sweep.cells), dweight, 1e-5);
    for (int64_t cell = 0; cell < sweep.cells; cell += 101) {
      const size_t at = index(cell);
      EXPECT_NEAR(alone.y[at], std::max(result(at), 0.0), 1e-5);
      if (std::abs(result(at)) < 1e-5) continue;
      const double inner = (result(at) > 0 ? dy[at] : 0.0) - dbias - normal(at) * dweight;
      EXPECT_NEAR(alone.dx[at], weight[c] / deviation * inner, 1e-4);
    }
  }
}

TEST_P(BatchNormOfAVolume, NormalizesByTheStatisticsThatItFinds) {
  const Sweep sweep = on_blocks(Sweep{.batch = 2, .channels = 3 * lanes_ + 4, .cells = 17 * 23});
  const int64_t stride = 4 * sweep.cells * lanes_;
  const std::vector<float> x = random_floats(2 * stride, 1, 5), weight = random_floats(sweep.channels, 3),
                           bias = random_floats(sweep.channels, 4);
  std::vector<float> scratch(static_cast<size_t>(scratch_floats(sweep)), NAN);
  struct Result {
    std::vector<float> y, mean, variance;
    bool operator==(const Result&) const = default;
  };
  const auto parameters_for = [&](const Result& of) {
    return Parameters{weight.data(), bias.data(), of.mean.data(), of.variance.data(), kEpsilon, true};
  };
  const std::vector<float> nothing(static_cast<size_t>(sweep.channels));
  Result apart = {x, nothing, nothing};
  statistics(sweep, {x.data(), stride}, {apart.mean.data(), apart.variance.data()}, scratch.data());
  normalize(sweep, {x.data(), stride}, parameters_for(apart), {apart.y.data(), stride}, scratch.data());
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {  // whole blocks each, or parts of all of them
    omp_set_num_threads(threads);
    Result together = {x, nothing, nothing};
    normalize_batch(sweep, {x.data(), stride}, parameters_for(together),
                    {together.mean.data(), together.variance.data()}, {together.y.data(), stride},
                    scratch.data());
    EXPECT_EQ(together, apart) << threads;
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace tacho::batch_norm
