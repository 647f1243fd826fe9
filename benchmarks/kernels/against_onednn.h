#pragma once

// What benchmarks of our kernels against oneDNN share: tensors, a problem, oneDNN's side, turns, errors.

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "engine/native/onednn.h"
#include "kernels/direct/direct.h"

namespace tacho {

using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

inline dnnl::stream& stream() {
  static dnnl::stream only(engine());
  return only;
}

inline float* floats(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

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
  explicit Problem(const direct::Convolution& c)
      : convolution(c),
        is_deep(c.kernel[0] > 1),
        src(with_space({c.batch, c.in_channels}, c.extents), plain()),
        weights(with_space({c.out_channels, c.in_channels}, c.kernel), is_deep ? Tag::oidhw : Tag::oihw),
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
  Dims strides() const { return with_space({}, convolution.stride); }
  Tag plain() const { return is_deep ? Tag::ncdhw : Tag::nchw; }
  Tag blocked() const {
    if (convolution.lanes == 16) return is_deep ? Tag::nCdhw16c : Tag::nChw16c;
    return is_deep ? Tag::nCdhw8c : Tag::nChw8c;
  }
  int64_t taps() const { return convolution.kernel[0] * convolution.kernel[1] * convolution.kernel[2]; }
  double flop() const {
    double result = 2.0;
    for (const int64_t dim : native::dims_of(dst.memory.get_desc())) result *= static_cast<double>(dim);
    return result * static_cast<double>(convolution.in_channels * taps());
  }

  direct::Convolution convolution;
  bool is_deep;
  Tensor src, weights, bias, dst;
};

inline dnnl::memory::desc any_layout(const Tensor& tensor) {
  return {native::dims_of(tensor.memory.get_desc()), dnnl::memory::data_type::f32, Tag::any};
}

class OneDnnForward {
 public:
  explicit OneDnnForward(Problem& problem)
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
    native::append_eltwise(dnnl::algorithm::eltwise_relu, 0, operations);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    return native::describe<dnnl::convolution_forward>(
        engine(), attributes, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        any_layout(problem.src), any_layout(problem.weights), problem.bias.memory.get_desc(),
        any_layout(problem.dst), problem.strides(), problem.padding(), problem.padding());
  }

  dnnl::convolution_forward::primitive_desc description_;
  Tensor src_, weights_, dst_;
  dnnl::memory bias_;
  dnnl::convolution_forward primitive_;
};

class OneDnnBackwardData {
 public:
  explicit OneDnnBackwardData(Problem& problem)
      : description_(describe(problem)),
        diff_src_(description_.diff_src_desc()),
        weights_(description_.weights_desc()),
        diff_dst_(description_.diff_dst_desc()),
        primitive_(description_) {
    weights_.copy_from(problem.weights);
    diff_dst_.copy_from(problem.dst);
  }

  void run() {
    primitive_.execute(stream(), {{DNNL_ARG_DIFF_SRC, diff_src_.memory},
                                  {DNNL_ARG_WEIGHTS, weights_.memory},
                                  {DNNL_ARG_DIFF_DST, diff_dst_.memory}});
    stream().wait();
  }
  Tensor& result() { return diff_src_; }

 private:
  static dnnl::convolution_backward_data::primitive_desc describe(Problem& problem) {
    const auto direct = dnnl::algorithm::convolution_direct;
    const auto forward = native::describe<dnnl::convolution_forward>(
        engine(), {}, dnnl::prop_kind::forward_training, direct, any_layout(problem.src),
        any_layout(problem.weights), any_layout(problem.dst), problem.strides(), problem.padding(),
        problem.padding());
    return native::describe_backward<dnnl::convolution_backward_data>(
        engine(), {}, forward, direct, any_layout(problem.src), any_layout(problem.weights),
        any_layout(problem.dst), problem.strides(), problem.padding(), problem.padding());
  }

  dnnl::convolution_backward_data::primitive_desc description_;
  Tensor diff_src_, weights_, diff_dst_;
  dnnl::convolution_backward_data primitive_;
};

class OneDnnBackwardWeights {
 public:
  explicit OneDnnBackwardWeights(Problem& problem)
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
    const auto forward = native::describe<dnnl::convolution_forward>(
        engine(), {}, dnnl::prop_kind::forward_training, direct, any_layout(problem.src),
        any_layout(problem.weights), problem.bias.memory.get_desc(), any_layout(problem.dst),
        problem.strides(), problem.padding(), problem.padding());
    return native::describe_backward<dnnl::convolution_backward_weights>(
        engine(), {}, forward, direct, any_layout(problem.src), any_layout(problem.weights),
        problem.bias.memory.get_desc(), any_layout(problem.dst), problem.strides(), problem.padding(),
        problem.padding());
  }

  dnnl::convolution_backward_weights::primitive_desc description_;
  Tensor src_, diff_dst_, diff_weights_, diff_bias_;
  dnnl::convolution_backward_weights primitive_;
};

// One output by its definition in double precision.
inline double true_output(Problem& problem, int64_t image, int64_t channel,
                          const std::array<int64_t, 3>& at) {
  const direct::Convolution& c = problem.convolution;
  const auto& [depth, height, width] = c.extents;
  const int64_t taps = problem.taps();
  double sum = problem.bias.data()[channel];
  for (int64_t in = 0; in < c.in_channels; ++in) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t z = at[0] * c.stride[0] + tap / c.kernel[2] / c.kernel[1] - c.padding[0],
                    y = at[1] * c.stride[1] + tap / c.kernel[2] % c.kernel[1] - c.padding[1],
                    x = at[2] * c.stride[2] + tap % c.kernel[2] - c.padding[2];
      if (z < 0 || z >= depth || y < 0 || y >= height || x < 0 || x >= width) continue;
      const double input =
          problem.src.data()[(((image * c.in_channels + in) * depth + z) * height + y) * width + x];
      sum += input * problem.weights.data()[(channel * c.in_channels + in) * taps + tap];
    }
  }
  return std::max(sum, 0.0);
}

inline double true_output(Problem& problem, int64_t offset) {
  const auto extents = dst_extents(problem.convolution);
  const int64_t x = offset % extents[2], y = offset / extents[2] % extents[1],
                z = offset / (extents[2] * extents[1]) % extents[0],
                channels = offset / (extents[2] * extents[1] * extents[0]);
  const int64_t out_channels = problem.convolution.out_channels;
  return true_output(problem, channels / out_channels, channels % out_channels, {z, y, x});
}

// One input's gradient by its definition in double precision.
inline double true_data_gradient(Problem& problem, int64_t offset) {
  const direct::Convolution& c = problem.convolution;
  const auto& [depth, height, width] = c.extents;
  const auto out = dst_extents(c);
  const int64_t plane = depth * height * width, in = offset / plane % c.in_channels,
                image = offset / plane / c.in_channels;
  const std::array<int64_t, 3> at = {offset / (height * width) % depth, offset / width % height,
                                     offset % width};
  double sum = 0;
  for (int64_t tap = 0; tap < problem.taps(); ++tap) {
    const std::array<int64_t, 3> taps = {tap / c.kernel[2] / c.kernel[1], tap / c.kernel[2] % c.kernel[1],
                                         tap % c.kernel[2]};
    std::array<int64_t, 3> to;
    bool meets = true;
    for (size_t axis = 0; axis < 3; ++axis) {
      const int64_t reach = at[axis] + c.padding[axis] - taps[axis];
      to[axis] = reach / c.stride[axis];
      meets = meets && reach >= 0 && reach % c.stride[axis] == 0 && to[axis] < out[axis];
    }
    if (!meets) continue;
    for (int64_t channel = 0; channel < c.out_channels; ++channel) {
      const int64_t place = (((image * c.out_channels + channel) * out[0] + to[0]) * out[1] + to[1]) * out[2];
      sum += static_cast<double>(problem.dst.data()[place + to[2]]) *
             problem.weights.data()[(channel * c.in_channels + in) * problem.taps() + tap];
    }
  }
  return sum;
}

// One weight's gradient by its definition in double precision.
inline double true_weight_gradient(Problem& problem, int64_t offset) {
  const direct::Convolution& c = problem.convolution;
  const auto& [depth, height, width] = c.extents;
  const auto [out_depth, out_height, out_width] = dst_extents(c);
  const int64_t taps = problem.taps(), tap = offset % taps, in = offset / taps % c.in_channels,
                out = offset / taps / c.in_channels;
  double sum = 0;
  for (int64_t row = 0; row < c.batch * out_depth * out_height; ++row) {
    const int64_t image = row / out_height / out_depth;
    const int64_t to_z = row / out_height % out_depth, to_y = row % out_height;
    const int64_t z = to_z * c.stride[0] + tap / c.kernel[2] / c.kernel[1] - c.padding[0],
                  y = to_y * c.stride[1] + tap / c.kernel[2] % c.kernel[1] - c.padding[1];
    if (z < 0 || z >= depth || y < 0 || y >= height) continue;
    const float* inputs =
        problem.src.data() + (((image * c.in_channels + in) * depth + z) * height + y) * width;
    const float* gradients =
        problem.dst.data() +
        (((image * c.out_channels + out) * out_depth + to_z) * out_height + to_y) * out_width;
    for (int64_t to_x = 0; to_x < out_width; ++to_x) {
      const int64_t x = to_x * c.stride[2] + tap % c.kernel[2] - c.padding[2];
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

inline double median(std::vector<double> values) {
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
  double onednn_ms, ours_ms;  // the best of all rounds
  double ratio;               // the median of the rounds' ratios
};

template<typename Library, typename Ours>
Comparison compare(Library& library, Ours& ours, int rounds) {
  constexpr double kTurnMs = 10;
  library.run();
  ours.run();
  const int repeats = 1 + static_cast<int>(kTurnMs / time_ms(library, 1));
  std::vector<double> onednn_ms, ours_ms, ratios;
  for (int round = 0; round < rounds; ++round) {
    onednn_ms.push_back(time_ms(library, repeats));
    ours_ms.push_back(time_ms(ours, repeats));
    ratios.push_back(onednn_ms.back() / ours_ms.back());
  }
  return {*std::ranges::min_element(onednn_ms), *std::ranges::min_element(ours_ms), median(ratios)};
}

}  // namespace tacho
