// Winograd kernels against oneDNN's direct convolutions in the layout it likes best, turn by turn in one
// process.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "against_onednn.h"
#include "base/cpu.h"
#include "kernels/blocked/widths.h"
#include "kernels/winograd/winograd.h"

namespace {

using namespace tacho;
using winograd::Convolution;

struct Shape {
  std::string name;
  Convolution convolution;
};

Convolution flat(int64_t in, int64_t out, int64_t extent, int64_t padding = 1) {
  return {1, in, out, {1, 3, 3}, {1, extent, extent}, {0, padding, padding}};
}

Convolution deep(int64_t in, int64_t out, int64_t depth, int64_t extent) {
  return {1, in, out, {3, 3, 3}, {depth, extent, extent}, {1, 1, 1}};
}

Convolution shaped(int height, int width, int64_t in, int64_t out, int64_t extent) {
  return {1, in, out, {1, height, width}, {1, extent, extent}, {0, height / 2, width / 2}};
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
    {"inception", shaped(5, 5, 48, 64, 35)},
    {"inception", shaped(1, 7, 128, 128, 17)},
    {"inception", shaped(7, 1, 128, 192, 17)},
    {"inception", shaped(1, 7, 192, 192, 17)},
    {"inception", shaped(7, 1, 192, 192, 17)},
    {"inception", shaped(1, 3, 384, 384, 8)},
    {"inception", shaped(3, 1, 384, 384, 8)},
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

direct::Convolution as_direct(const Convolution& c) {
  return {.batch = c.batch,
          .in_channels = c.in_channels,
          .out_channels = c.out_channels,
          .kernel = {c.kernel[0], c.kernel[1], c.kernel[2]},
          .extents = c.extents,
          .padding = c.padding,
          .lanes = c.lanes};
}

class WinogradForward {
 public:
  WinogradForward(const Convolution& convolution, Problem& problem, int threads)
      : convolution_(convolution),
        threads_(threads),
        src_(native::dims_of(problem.src.memory.get_desc()), problem.blocked()),
        dst_(native::dims_of(problem.dst.memory.get_desc()), problem.blocked()),
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

class WinogradBackwardWeights {
 public:
  WinogradBackwardWeights(const Convolution& convolution, Problem& problem, int threads)
      : convolution_(convolution),
        threads_(threads),
        src_(native::dims_of(problem.src.memory.get_desc()), problem.blocked()),
        diff_dst_(native::dims_of(problem.dst.memory.get_desc()), problem.blocked()),
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

void print_row(const Shape& shape, const char* operation, double flop, const Comparison& comparison,
               double direct_error, double winograd_error) {
  const Convolution& c = shape.convolution;
  const std::string kernel = c.kernel[0] == 1 ? fmt::format("{}x{}", c.kernel[1], c.kernel[2])
                                              : fmt::format("{}", fmt::join(c.kernel, "x"));
  const std::string extents = c.kernel[0] == 1 ? fmt::format("{}x{}", c.extents[1], c.extents[2])
                                               : fmt::format("{}", fmt::join(c.extents, "x"));
  fmt::print(
      "{:<12} {:<8} {:>3} {:>4} -> {:<4} {:>6} {:>10} {:>9.3f} {:>9.3f} {:>7.0f} {:>7.0f} {:>6.2f} {:>9.1e} "
      "{:>9.1e}\n",
      shape.name, operation, c.batch, c.in_channels, c.out_channels, kernel, extents, comparison.onednn_ms,
      comparison.ours_ms, flop / comparison.onednn_ms * 1e-6, flop / comparison.ours_ms * 1e-6,
      comparison.ratio, direct_error, winograd_error);
  std::fflush(stdout);
}

void compare_forward(const Shape& shape, int threads, int rounds) {
  Problem problem(as_direct(shape.convolution));
  OneDnnForward direct(problem);
  WinogradForward winograd(shape.convolution, problem, threads);
  const Comparison comparison = compare(direct, winograd, rounds);
  const auto error = [&](Tensor& result) {
    return error_of(problem, result, problem.dst,
                    [](Problem& p, int64_t offset) { return true_output(p, offset); });
  };
  print_row(shape, "forward", problem.flop(), comparison, error(direct.result()), error(winograd.result()));
}

void compare_backward_weights(const Shape& shape, int threads, int rounds) {
  Problem problem(as_direct(shape.convolution));
  OneDnnBackwardWeights direct(problem);
  WinogradBackwardWeights winograd(shape.convolution, problem, threads);
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
  int64_t batch = 16, lanes = blocked::fastest_lanes();
  std::string operation;
  app.add_option("networks", networks, "Networks whose shapes are measured; without names, all");
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds);
  app.add_option("--batch", batch, "Batch of the flat shapes; volumes have 1");
  app.add_option("--lanes", lanes, "Channels of a block of ours: 8, or 16 with AVX-512");
  app.add_option("--operation", operation, "forward or weights; both without it")
      ->check(CLI::IsMember({"forward", "weights"}));
  CLI11_PARSE(app, count, values);
  use_threads(threads);
  fmt::print("{:<12} {:<8} {:>3} {:>12} {:>6} {:>10} {:>9} {:>9} {:>7} {:>7} {:>6} {:>9} {:>9}\n", "network",
             "operation", "n", "channels", "kernel", "extents", "direct ms", "ms", "direct", "GFLOP/s",
             "ratio", "error of", "of ours");
  for (Shape shape : kShapes) {
    if (!networks.empty() && std::ranges::find(networks, shape.name) == networks.end()) continue;
    if (shape.convolution.kernel[0] == 1) shape.convolution.batch = batch;
    shape.convolution.lanes = lanes;
    if (operation != "weights") compare_forward(shape, threads, rounds);
    if (operation != "forward") compare_backward_weights(shape, threads, rounds);
  }
}
