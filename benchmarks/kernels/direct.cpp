// Direct convolutions against oneDNN's in the layout it likes best, turn by turn in one process.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "against_onednn.h"
#include "base/cpu.h"
#include "kernels/blocked/widths.h"

namespace {

using namespace tacho;
using direct::Convolution;

struct Shape {
  std::string name;
  Convolution convolution;
};

Convolution square(int64_t in, int64_t out, int64_t extent, int64_t kernel, int64_t stride, int64_t padding) {
  return {1, in, out, {1, kernel, kernel}, {1, stride, stride}, {1, extent, extent}, {0, padding, padding}};
}
Convolution pointwise(int64_t in, int64_t out, int64_t extent, int64_t stride = 1) {
  return square(in, out, extent, 1, stride, 0);
}
Convolution row(int64_t in, int64_t out, int64_t extent, int64_t length) {
  return {1, in, out, {1, 1, length}, {1, 1, 1}, {1, extent, extent}, {0, 0, length / 2}};
}
Convolution column(int64_t in, int64_t out, int64_t extent, int64_t length) {
  return {1, in, out, {1, length, 1}, {1, 1, 1}, {1, extent, extent}, {0, length / 2, 0}};
}

const std::vector<Shape> kShapes = {
    {"inception", square(288, 384, 35, 3, 2, 0)}, {"inception", square(96, 96, 35, 3, 2, 0)},
    {"inception", row(128, 128, 17, 7)},          {"inception", column(128, 192, 17, 7)},
    {"inception", row(160, 192, 17, 7)},          {"inception", column(160, 160, 17, 7)},
    {"inception", row(192, 192, 17, 7)},          {"inception", column(192, 192, 17, 7)},
    {"inception", row(384, 384, 8, 3)},           {"inception", column(384, 384, 8, 3)},
    {"inception", square(192, 320, 17, 3, 2, 0)}, {"inception", square(192, 192, 17, 3, 2, 0)},
    {"inception", square(48, 64, 35, 5, 1, 2)},   {"resnet", square(64, 128, 56, 3, 2, 1)},
    {"resnet", square(128, 256, 28, 3, 2, 1)},    {"resnet", square(256, 512, 14, 3, 2, 1)},
    {"resnet", square(128, 128, 56, 3, 2, 1)},    {"resnet", square(256, 256, 28, 3, 2, 1)},
    {"resnet", square(512, 512, 14, 3, 2, 1)},    {"resnet_1x1", pointwise(64, 64, 56)},
    {"resnet_1x1", pointwise(64, 256, 56)},       {"resnet_1x1", pointwise(256, 64, 56)},
    {"resnet_1x1", pointwise(256, 512, 56, 2)},   {"resnet_1x1", pointwise(128, 512, 28)},
    {"resnet_1x1", pointwise(512, 128, 28)},      {"resnet_1x1", pointwise(512, 1024, 28, 2)},
    {"resnet_1x1", pointwise(256, 1024, 14)},     {"resnet_1x1", pointwise(1024, 256, 14)},
    {"resnet_1x1", pointwise(1024, 2048, 14, 2)}, {"resnet_1x1", pointwise(512, 2048, 7)},
    {"resnet_1x1", pointwise(2048, 512, 7)},      {"densenet_1x1", pointwise(96, 128, 56)},
    {"densenet_1x1", pointwise(256, 128, 56)},    {"densenet_1x1", pointwise(256, 128, 28)},
    {"densenet_1x1", pointwise(512, 256, 28)},    {"densenet_1x1", pointwise(512, 128, 14)},
    {"densenet_1x1", pointwise(992, 128, 14)},    {"densenet_1x1", pointwise(512, 128, 7)},
    {"densenet_1x1", pointwise(992, 128, 7)},     {"inception_1x1", pointwise(64, 80, 73)},
    {"inception_1x1", pointwise(192, 48, 35)},    {"inception_1x1", pointwise(288, 64, 35)},
    {"inception_1x1", pointwise(768, 128, 17)},   {"inception_1x1", pointwise(768, 192, 17)},
    {"inception_1x1", pointwise(1280, 448, 8)},   {"inception_1x1", pointwise(2048, 320, 8)},
    {"inception_1x1", pointwise(2048, 384, 8)},
};

Buffer room_for(int64_t count) { return Buffer(static_cast<size_t>(count) * sizeof(float)); }

// A convolution, or the gradient of its source.
class DirectGather {
 public:
  DirectGather(Problem& problem, direct::Direction direction, int threads)
      : convolution_(problem.convolution),
        direction_(direction),
        threads_(threads),
        src_(native::dims_of(problem.src.memory.get_desc()), problem.blocked()),
        dst_(native::dims_of(problem.dst.memory.get_desc()), problem.blocked()),
        packed_(room_for(packed_weights_floats(convolution_, direction))),
        scratch_(room_for(gather_scratch_floats(convolution_, direction, threads))),
        bias_(problem.bias.data()) {
    forward() ? src_.copy_from(problem.src) : dst_.copy_from(problem.dst);
    pack_weights(convolution_, direction, problem.weights.data(), floats(packed_), threads);
  }

  void run() {
    direct::GatherArguments arguments = {.packed_weights = floats(packed_)};
    if (forward()) {
      arguments.read = src_.data(), arguments.written = dst_.data();
      arguments.bias = bias_, arguments.relu = true;
    } else {
      arguments.read = dst_.data(), arguments.written = src_.data();
    }
    gather(convolution_, direction_, arguments, floats(scratch_), threads_);
  }
  Tensor& result() { return forward() ? dst_ : src_; }

 private:
  bool forward() const { return direction_ == direct::Direction::forward; }

  Convolution convolution_;
  direct::Direction direction_;
  int threads_;
  Tensor src_, dst_;
  Buffer packed_, scratch_;
  const float* bias_;
};

class DirectBackwardWeights {
 public:
  DirectBackwardWeights(Problem& problem, int threads)
      : convolution_(problem.convolution),
        threads_(threads),
        src_(native::dims_of(problem.src.memory.get_desc()), problem.blocked()),
        diff_dst_(native::dims_of(problem.dst.memory.get_desc()), problem.blocked()),
        diff_weights_(problem.weights.memory.get_desc()),
        diff_bias_(problem.bias.memory.get_desc()),
        scratch_(room_for(backward_weights_scratch_floats(convolution_, threads))) {
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

template<typename Library, typename Ours, typename Truth>
void compare(const Shape& shape, const char* operation, Problem& problem, Library& library, Ours& ours,
             const Tensor& plain, const Truth& truth, int rounds) {
  const Convolution& c = shape.convolution;
  const Comparison comparison = tacho::compare(library, ours, rounds);
  const auto gflops = [&](double ms) { return problem.flop() / ms * 1e-6; };
  fmt::print(
      "{:<13} {:<8} {:>3} {}x{}/{} {:>4} -> {:<4} {:>3}x{:<3} {:>10.3f} {:>7.3f} {:>7.0f} {:>7.0f} {:>6.2f} "
      "{:>9.1e} {:>9.1e}\n",
      shape.name, operation, c.batch, c.kernel[1], c.kernel[2], c.stride[1], c.in_channels, c.out_channels,
      c.extents[1], c.extents[2], comparison.onednn_ms, comparison.ours_ms, gflops(comparison.onednn_ms),
      gflops(comparison.ours_ms), comparison.ratio, error_of(problem, library.result(), plain, truth),
      error_of(problem, ours.result(), plain, truth));
  std::fflush(stdout);
}

void compare(const Shape& shape, const std::string& operation, int threads, int rounds) {
  Problem problem(shape.convolution);
  if (operation == "forward") {
    OneDnnForward library(problem);
    DirectGather ours(problem, direct::Direction::forward, threads);
    const auto truth = [](Problem& p, int64_t offset) { return true_output(p, offset); };
    compare(shape, "forward", problem, library, ours, problem.dst, truth, rounds);
  } else if (operation == "data") {
    OneDnnBackwardData library(problem);
    DirectGather ours(problem, direct::Direction::backward, threads);
    compare(shape, "data", problem, library, ours, problem.src, true_data_gradient, rounds);
  } else {
    OneDnnBackwardWeights library(problem);
    DirectBackwardWeights ours(problem, threads);
    compare(shape, "weights", problem, library, ours, problem.weights, true_weight_gradient, rounds);
  }
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Direct convolutions against oneDNN's");
  std::vector<std::string> networks, operations = {"forward", "data", "weights"};
  int threads = usable_cores(), rounds = 7;
  int64_t batch = 16, lanes = blocked::fastest_lanes();
  app.add_option("networks", networks, "Networks whose shapes are measured; without names, all");
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds);
  app.add_option("--batch", batch);
  app.add_option("--lanes", lanes, "Channels of a block of ours: 8, or 16 with AVX-512");
  app.add_option("--operation", operations)->check(CLI::IsMember({"forward", "data", "weights"}));
  CLI11_PARSE(app, count, values);
  use_threads(threads);
  fmt::print("{:<13} {:<8} {:>3} {:<5} {:>12} {:>7} {:>10} {:>7} {:>7} {:>7} {:>6} {:>9} {:>9}\n", "network",
             "pass", "n", "k/s", "channels", "extents", "library ms", "ms", "library", "GFLOP/s", "ratio",
             "error of", "of ours");
  for (Shape shape : kShapes) {
    if (!networks.empty() && std::ranges::find(networks, shape.name) == networks.end()) continue;
    shape.convolution.batch = batch;
    shape.convolution.lanes = lanes;
    for (const std::string& operation : operations) compare(shape, operation, threads, rounds);
  }
}
