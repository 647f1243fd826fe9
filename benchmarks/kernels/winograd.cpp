// Winograd kernels against oneDNN's direct convolutions in the layout it likes best, turn by turn in one
// process.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "kernels/winograd/winograd.h"

namespace {

using namespace tacho;
using winograd::Convolution;
using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

struct Shape {
  std::string name;
  Convolution convolution;
};

Convolution flat(int64_t in, int64_t out, int64_t extent, int64_t padding = 1) {
  return {1, in, out, 1, {1, extent, extent}, {0, padding, padding}};
}

Convolution deep(int64_t in, int64_t out, int64_t depth, int64_t extent) {
  return {1, in, out, 3, {depth, extent, extent}, {1, 1, 1}};
}

const std::vector<Shape> kShapes = {
    {"vgg", flat(64, 64, 224)},
    {"vgg", flat(64, 128, 112)},
    {"vgg", flat(128, 128, 112)},
    {"vgg", flat(128, 256, 56)},
    {"vgg", flat(256, 256, 56)},
    {"vgg", flat(256, 512, 28)},
    {"vgg", flat(512, 512, 28)},
    {"vgg", flat(512, 512, 14)},
    {"resnet", flat(64, 64, 56)},
    {"resnet", flat(128, 128, 28)},
    {"resnet", flat(256, 256, 14)},
    {"resnet", flat(512, 512, 7)},
    {"densenet", flat(128, 32, 56)},
    {"densenet", flat(128, 32, 28)},
    {"densenet", flat(128, 32, 14)},
    {"densenet", flat(128, 32, 7)},
    {"inception", flat(32, 64, 147)},
    {"inception", flat(80, 192, 73, 0)},
    {"inception", flat(64, 96, 35)},
    {"inception", flat(96, 96, 35)},
    {"squeezenet", flat(16, 64, 55)},
    {"squeezenet", flat(48, 192, 27)},
    {"unet3d", deep(12, 12, 40, 216)},
    {"unet3d", deep(12, 60, 40, 72)},
    {"unet3d", deep(60, 60, 40, 72)},
    {"unet3d", deep(60, 300, 40, 24)},
    {"unet3d", deep(300, 300, 40, 24)},
    {"unet3d_8x8", deep(300, 1500, 40, 8)},
    {"unet3d_8x8", deep(1800, 300, 40, 8)},
    {"unet3d", deep(360, 60, 40, 24)},
    {"unet3d", deep(72, 12, 40, 72)},
    {"unet3d_8x8", deep(1500, 1500, 40, 8)},
};

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream only(engine());
  return only;
}

float* floats(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

// A tensor in memory of our own, so that all sides have the same pages.
struct Tensor {
  explicit Tensor(const dnnl::memory::desc& layout)
      : buffer(layout.get_size()), memory(layout, engine(), buffer.data()) {}
  Tensor(const Dims& dims, Tag tag) : Tensor(dnnl::memory::desc(dims, dnnl::memory::data_type::f32, tag)) {}

  float* data() { return floats(buffer); }
  size_t size() const { return buffer.bytes() / sizeof(float); }
  void fill(unsigned seed) {
    std::minstd_rand bits(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    std::generate_n(data(), size(), [&] { return values(bits); });
  }
  void copy_from(Tensor& other) {
    dnnl::reorder(other.memory, memory).execute(stream(), other.memory, memory);
    stream().wait();
  }

  Buffer buffer;
  dnnl::memory memory;
};

// Dimensions and plain values that both sides begin with.
struct Problem {
  explicit Problem(const Convolution& c)
      : convolution(c),
        is_deep(c.kernel_depth == 3),
        src(with_space({c.batch, c.in_channels}, c.extents), plain()),
        weights(with_space({c.out_channels, c.in_channels}, {3, 3, 3}), is_deep ? Tag::oidhw : Tag::oihw),
        bias({c.out_channels}, Tag::x),
        dst(with_space({c.batch, c.out_channels}, dst_extents(c)), plain()) {
    src.fill(1);
    weights.fill(2);
    bias.fill(3);
    dst.fill(4);
  }

  Dims with_space(Dims dims, std::array<int64_t, 3> extents) const {
    dims.insert(dims.end(), extents.begin() + (is_deep ? 0 : 1), extents.end());
    return dims;
  }
  Dims padding() const { return with_space({}, convolution.padding); }
  Dims strides() const { return with_space({}, {1, 1, 1}); }
  Tag plain() const { return is_deep ? Tag::ncdhw : Tag::nchw; }
  Tag blocked() const { return is_deep ? Tag::nCdhw8c : Tag::nChw8c; }
  double flop() const {
    double result = 2.0;
    for (const int64_t dim : dst.memory.get_desc().dims()) result *= static_cast<double>(dim);
    return result * static_cast<double>(convolution.in_channels * (is_deep ? 27 : 9));
  }

  Convolution convolution;
  bool is_deep;
  Tensor src, weights, bias, dst;
};

dnnl::memory::desc any_layout(const Tensor& tensor) {
  return {tensor.memory.get_desc().dims(), dnnl::memory::data_type::f32, Tag::any};
}

class DirectForward {
 public:
  explicit DirectForward(Problem& problem)
      : description_(describe(problem)),
        src_(description_.src_desc()),
        weights_(description_.weights_desc()),
        dst_(description_.dst_desc()),
        bias_(problem.bias.memory),
        primitive_(description_) {
    src_.copy_from(problem.src);
    weights_.copy_from(problem.weights);
  }

  void run() {
    primitive_.execute(stream(), {{DNNL_ARG_SRC, src_.memory},
                                  {DNNL_ARG_WEIGHTS, weights_.memory},
                                  {DNNL_ARG_BIAS, bias_},
                                  {DNNL_ARG_DST, dst_.memory}});
    stream().wait();
  }
  Tensor& result() { return dst_; }

 private:
  static dnnl::convolution_forward::primitive_desc describe(Problem& problem) {
    dnnl::post_ops operations;
    operations.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    const dnnl::convolution_forward::desc description(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any_layout(problem.src),
        any_layout(problem.weights), problem.bias.memory.get_desc(), any_layout(problem.dst),
        problem.strides(), problem.padding(), problem.padding());
    return {description, attributes, engine()};
  }

  dnnl::convolution_forward::primitive_desc description_;
  Tensor src_, weights_, dst_;
  dnnl::memory bias_;
  dnnl::convolution_forward primitive_;
};

class WinogradForward {
 public:
  WinogradForward(Problem& problem, int threads)
      : convolution_(problem.convolution),
        threads_(threads),
        src_(problem.src.memory.get_desc().dims(), problem.blocked()),
        dst_(problem.dst.memory.get_desc().dims(), problem.blocked()),
        packed_(static_cast<size_t>(packed_weights_floats(convolution_)) * sizeof(float)),
        scratch_(static_cast<size_t>(forward_scratch_floats(convolution_, threads)) * sizeof(float)),
        bias_(problem.bias.data()) {
    src_.copy_from(problem.src);
    pack_weights(convolution_, winograd::WeightOrder::forward, problem.weights.data(), floats(packed_),
                 threads);
  }

  void run() {
    forward(convolution_,
            {.src = src_.data(),
             .packed_weights = floats(packed_),
             .bias = bias_,
             .activation = winograd::Activation::relu,
             .dst = dst_.data()},
            floats(scratch_), threads_);
  }
  Tensor& result() { return dst_; }

 private:
  Convolution convolution_;
  int threads_;
  Tensor src_, dst_;
  Buffer packed_, scratch_;
  const float* bias_;
};

class DirectBackwardWeights {
 public:
  explicit DirectBackwardWeights(Problem& problem)
      : description_(describe(problem)),
        src_(description_.src_desc()),
        diff_dst_(description_.diff_dst_desc()),
        diff_weights_(description_.diff_weights_desc()),
        diff_bias_(problem.bias.memory.get_desc()),
        primitive_(description_) {
    src_.copy_from(problem.src);
    diff_dst_.copy_from(problem.dst);
  }

  void run() {
    primitive_.execute(stream(), {{DNNL_ARG_SRC, src_.memory},
                                  {DNNL_ARG_DIFF_DST, diff_dst_.memory},
                                  {DNNL_ARG_DIFF_WEIGHTS, diff_weights_.memory},
                                  {DNNL_ARG_DIFF_BIAS, diff_bias_.memory}});
    stream().wait();
  }
  Tensor& result() { return diff_weights_; }

 private:
  static dnnl::convolution_backward_weights::primitive_desc describe(Problem& problem) {
    const auto direct = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::desc forward(dnnl::prop_kind::forward_training, direct,
                                                  any_layout(problem.src), any_layout(problem.weights),
                                                  problem.bias.memory.get_desc(), any_layout(problem.dst),
                                                  problem.strides(), problem.padding(), problem.padding());
    const dnnl::convolution_backward_weights::desc backward(
        direct, any_layout(problem.src), any_layout(problem.weights), problem.bias.memory.get_desc(),
        any_layout(problem.dst), problem.strides(), problem.padding(), problem.padding());
    return {backward, engine(), {forward, engine()}};
  }

  dnnl::convolution_backward_weights::primitive_desc description_;
  Tensor src_, diff_dst_, diff_weights_, diff_bias_;
  dnnl::convolution_backward_weights primitive_;
};

class WinogradBackwardWeights {
 public:
  WinogradBackwardWeights(Problem& problem, int threads)
      : convolution_(problem.convolution),
        threads_(threads),
        src_(problem.src.memory.get_desc().dims(), problem.blocked()),
        diff_dst_(problem.dst.memory.get_desc().dims(), problem.blocked()),
        diff_weights_(problem.weights.memory.get_desc()),
        diff_bias_(problem.bias.memory.get_desc()),
        scratch_(static_cast<size_t>(backward_weights_scratch_floats(convolution_, threads)) *
                 sizeof(float)) {
    src_.copy_from(problem.src);
    diff_dst_.copy_from(problem.dst);
  }

  void run() {
    backward_weights(convolution_, {src_.data(), diff_dst_.data(), diff_weights_.data(), diff_bias_.data()},
                     floats(scratch_), threads_);
  }
  Tensor& result() { return diff_weights_; }

 private:
  Convolution convolution_;
  int threads_;
  Tensor src_, diff_dst_, diff_weights_, diff_bias_;
  Buffer scratch_;
};

// One output by its definition in double precision.
double true_output(Problem& problem, int64_t image, int64_t channel, const std::array<int64_t, 3>& at) {
  const Convolution& c = problem.convolution;
  const auto& [depth, height, width] = c.extents;
  const int64_t taps = problem.is_deep ? 27 : 9;
  double sum = problem.bias.data()[channel];
  for (int64_t in = 0; in < c.in_channels; ++in) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t z = at[0] + tap / 9 - c.padding[0], y = at[1] + tap / 3 % 3 - c.padding[1],
                    x = at[2] + tap % 3 - c.padding[2];
      if (z < 0 || z >= depth || y < 0 || y >= height || x < 0 || x >= width) continue;
      const double input =
          problem.src.data()[(((image * c.in_channels + in) * depth + z) * height + y) * width + x];
      sum += input * problem.weights.data()[(channel * c.in_channels + in) * taps + tap];
    }
  }
  return std::max(sum, 0.0);
}

double true_output(Problem& problem, int64_t offset) {
  const auto extents = dst_extents(problem.convolution);
  const int64_t x = offset % extents[2], y = offset / extents[2] % extents[1],
                z = offset / (extents[2] * extents[1]) % extents[0],
                channels = offset / (extents[2] * extents[1] * extents[0]);
  const int64_t out_channels = problem.convolution.out_channels;
  return true_output(problem, channels / out_channels, channels % out_channels, {z, y, x});
}

// One weight's gradient by its definition in double precision.
double true_weight_gradient(Problem& problem, int64_t offset) {
  const Convolution& c = problem.convolution;
  const auto& [depth, height, width] = c.extents;
  const auto [out_depth, out_height, out_width] = dst_extents(c);
  const int64_t taps = problem.is_deep ? 27 : 9, tap = offset % taps, in = offset / taps % c.in_channels,
                out = offset / taps / c.in_channels;
  double sum = 0;
  for (int64_t row = 0; row < c.batch * out_depth * out_height; ++row) {
    const int64_t image = row / out_height / out_depth;
    const int64_t to_z = row / out_height % out_depth, to_y = row % out_height;
    const int64_t z = to_z + tap / 9 - c.padding[0], y = to_y + tap / 3 % 3 - c.padding[1];
    if (z < 0 || z >= depth || y < 0 || y >= height) continue;
    const float* inputs =
        problem.src.data() + (((image * c.in_channels + in) * depth + z) * height + y) * width;
    const float* gradients =
        problem.dst.data() +
        (((image * c.out_channels + out) * out_depth + to_z) * out_height + to_y) * out_width;
    for (int64_t to_x = 0; to_x < out_width; ++to_x) {
      const int64_t x = to_x + tap % 3 - c.padding[2];
      if (x >= 0 && x < width) sum += static_cast<double>(inputs[x]) * gradients[to_x];
    }
  }
  return sum;
}

// Root mean square of errors at some places, as a share of that of the true values.
template<typename Truth>
double error_of(Problem& problem, Tensor& result, const Tensor& plain_shape, const Truth& truth_at) {
  constexpr int kSamples = 300;
  Tensor plain(plain_shape.memory.get_desc());
  plain.copy_from(result);
  std::minstd_rand bits(5);
  double errors = 0, values = 0;
  for (int i = 0; i < kSamples; ++i) {
    const auto offset = static_cast<int64_t>(bits() % plain.size());
    const double truth = truth_at(problem, offset);
    errors += std::pow(plain.data()[offset] - truth, 2);
    values += truth * truth;
  }
  return std::sqrt(errors / values);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template<typename Side>
double time_ms(Side& side, int repeats) {
  const double begin = now_ms();
  for (int i = 0; i < repeats; ++i) side.run();
  return (now_ms() - begin) / repeats;
}

struct Comparison {
  double direct_ms, winograd_ms;  // the best of all rounds
  double ratio;                   // the median of the rounds' ratios
};

template<typename Direct, typename Winograd>
Comparison compare(Direct& direct, Winograd& winograd, int rounds) {
  constexpr double kTurnMs = 10;
  direct.run();
  winograd.run();
  const int repeats = 1 + static_cast<int>(kTurnMs / time_ms(direct, 1));
  std::vector<double> direct_ms, winograd_ms, ratios;
  for (int round = 0; round < rounds; ++round) {
    direct_ms.push_back(time_ms(direct, repeats));
    winograd_ms.push_back(time_ms(winograd, repeats));
    ratios.push_back(direct_ms.back() / winograd_ms.back());
  }
  return {*std::ranges::min_element(direct_ms), *std::ranges::min_element(winograd_ms), median(ratios)};
}

void print_row(const Shape& shape, const char* operation, double flop, const Comparison& comparison,
               double direct_error, double winograd_error) {
  const Convolution& c = shape.convolution;
  const std::string extents = c.kernel_depth == 1
                                  ? fmt::format("{}x{}", c.extents[1], c.extents[2])
                                  : fmt::format("{}x{}x{}", c.extents[0], c.extents[1], c.extents[2]);
  fmt::print(
      "{:<12} {:<8} {:>3} {:>4} -> {:<4} {:>10} {:>9.3f} {:>9.3f} {:>7.0f} {:>7.0f} {:>6.2f} {:>9.1e} "
      "{:>9.1e}\n",
      shape.name, operation, c.batch, c.in_channels, c.out_channels, extents, comparison.direct_ms,
      comparison.winograd_ms, flop / comparison.direct_ms * 1e-6, flop / comparison.winograd_ms * 1e-6,
      comparison.ratio, direct_error, winograd_error);
  std::fflush(stdout);
}

void compare_forward(const Shape& shape, int threads, int rounds) {
  Problem problem(shape.convolution);
  DirectForward direct(problem);
  WinogradForward winograd(problem, threads);
  const Comparison comparison = compare(direct, winograd, rounds);
  const auto error = [&](Tensor& result) {
    return error_of(problem, result, problem.dst,
                    [](Problem& p, int64_t offset) { return true_output(p, offset); });
  };
  print_row(shape, "forward", problem.flop(), comparison, error(direct.result()), error(winograd.result()));
}

void compare_backward_weights(const Shape& shape, int threads, int rounds) {
  Problem problem(shape.convolution);
  DirectBackwardWeights direct(problem);
  WinogradBackwardWeights winograd(problem, threads);
  const Comparison comparison = compare(direct, winograd, rounds);
  const auto error = [&](Tensor& result) {
    return error_of(problem, result, problem.weights, true_weight_gradient);
  };
  print_row(shape, "weights", problem.flop(), comparison, error(direct.result()), error(winograd.result()));
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Winograd kernels against oneDNN's direct convolutions");
  std::vector<std::string> networks;
  int threads = usable_cores(), rounds = 7;
  int64_t batch = 16;
  std::string operation;
  app.add_option("networks", networks, "Networks whose shapes are measured; without names, all");
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds);
  app.add_option("--batch", batch, "Batch of the flat shapes; volumes have 1");
  app.add_option("--operation", operation, "forward or weights; both without it")
      ->check(CLI::IsMember({"forward", "weights"}));
  CLI11_PARSE(app, count, values);
  use_threads(threads);
  fmt::print("{:<12} {:<8} {:>3} {:>12} {:>10} {:>9} {:>9} {:>7} {:>7} {:>6} {:>9} {:>9}\n", "network",
             "operation", "n", "channels", "extents", "direct ms", "ms", "direct", "GFLOP/s", "ratio",
             "error of", "of ours");
  for (Shape shape : kShapes) {
    if (!networks.empty() && std::ranges::find(networks, shape.name) == networks.end()) continue;
    if (shape.convolution.kernel_depth == 1) shape.convolution.batch = batch;
    if (operation != "weights") compare_forward(shape, threads, rounds);
    if (operation != "forward") compare_backward_weights(shape, threads, rounds);
  }
}
