// The linear kernel against oneDNN's inner product in the layouts it likes best, turn by turn in one process.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "engine/native/onednn.h"
#include "kernels/linear/linear.h"

namespace {

using namespace tacho;
using dnnl::memory;
using linear::Layer;

struct Shape {
  const char* name;
  int64_t inputs, outputs;
};

constexpr Shape kShapes[] = {{"vgg fc1", 25088, 4096}, {"vgg fc2", 4096, 4096},
                             {"vgg fc3", 4096, 1000},  {"alexnet fc1", 9216, 4096},
                             {"resnet fc", 512, 1000}, {"densenet fc", 1024, 1000}};

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream only(engine());
  return only;
}

float* floats(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }
Buffer buffer_of(int64_t count) { return Buffer(static_cast<size_t>(count) * sizeof(float)); }

void fill(Buffer& buffer, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::generate_n(floats(buffer), buffer.bytes() / sizeof(float), [&] { return values(bits); });
}

class InnerProduct {
 public:
  InnerProduct(const Layer& layer, Buffer& src, Buffer& weights, Buffer& bias, Buffer& dst)
      : description_(describe(layer)),
        packed_(description_.weights_desc().get_size()),
        src_(description_.src_desc(), engine(), src.data()),
        weights_(description_.weights_desc(), engine(), packed_.data()),
        bias_(description_.bias_desc(), engine(), bias.data()),
        dst_(description_.dst_desc(), engine(), dst.data()),
        primitive_(description_) {
    memory plain(memory::desc({layer.outputs, layer.inputs}, memory::data_type::f32, memory::format_tag::ab),
                 engine(), weights.data());
    dnnl::reorder(plain, weights_).execute(stream(), plain, weights_);
    stream().wait();
  }

  void run() {
    primitive_.execute(
        stream(),
        {{DNNL_ARG_SRC, src_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, dst_}});
    stream().wait();
  }

 private:
  static dnnl::inner_product_forward::primitive_desc describe(const Layer& layer) {
    const auto plain = [](const memory::dims& dims) {
      return memory::desc(dims, memory::data_type::f32,
                          dims.size() == 1 ? memory::format_tag::a : memory::format_tag::ab);
    };
    const memory::desc any({layer.outputs, layer.inputs}, memory::data_type::f32, memory::format_tag::any);
    dnnl::post_ops operations;
    native::append_eltwise(dnnl::algorithm::eltwise_relu, 0, operations);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    return native::describe<dnnl::inner_product_forward>(
        engine(), attributes, dnnl::prop_kind::forward_inference, plain({layer.batch, layer.inputs}), any,
        plain({layer.outputs}), plain({layer.batch, layer.outputs}));
  }

  dnnl::inner_product_forward::primitive_desc description_;
  Buffer packed_;
  memory src_, weights_, bias_, dst_;
  dnnl::inner_product_forward primitive_;
};

template<typename Run>
double time_ms(const Run& run) {
  const double begin = now_ms();
  run();
  return now_ms() - begin;
}

void compare(const Shape& shape, int64_t batch, int threads, int rounds) {
  const Layer layer = {batch, shape.inputs, shape.outputs};
  Buffer src = buffer_of(batch * layer.inputs), weights = buffer_of(layer.outputs * layer.inputs),
         bias = buffer_of(layer.outputs), theirs = buffer_of(batch * layer.outputs),
         ours = buffer_of(batch * layer.outputs);
  fill(src, 1);
  fill(weights, 2);
  fill(bias, 3);
  InnerProduct product(layer, src, weights, bias, theirs);
  Buffer packed = buffer_of(packed_weights_floats(layer)),
         scratch = buffer_of(scratch_floats(layer, threads));
  pack_weights(layer, floats(weights), floats(packed), threads);
  const auto run = [&] {
    forward(layer, {floats(src), floats(packed), floats(bias), true, floats(ours)}, floats(scratch), threads);
  };
  product.run();
  run();
  double product_ms = INFINITY, ms = INFINITY, difference = 0;
  for (int round = 0; round < rounds; ++round) {
    product_ms = std::min(product_ms, time_ms([&] { product.run(); }));
    ms = std::min(ms, time_ms(run));
  }
  for (int64_t i = 0; i < batch * layer.outputs; ++i)
    difference = std::max<double>(difference, std::abs(floats(ours)[i] - floats(theirs)[i]));
  const auto weight_bytes = static_cast<double>(layer.inputs * layer.outputs) * sizeof(float);
  fmt::print("{:<12} {:>3} {:>6} -> {:<5} {:>10.3f} {:>9.3f} {:>8.1f} {:>8.1f} {:>6.2f} {:>10.1e}\n",
             shape.name, batch, layer.inputs, layer.outputs, product_ms, ms, weight_bytes / ms * 1e-6,
             weight_bytes / 2 * static_cast<double>(batch) / ms * 1e-6, product_ms / ms, difference);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("The linear kernel against oneDNN's inner product");
  int threads = usable_cores(), rounds = 7;
  std::vector<int64_t> batches = {16};
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds);
  app.add_option("--batch", batches);
  CLI11_PARSE(app, count, values);
  use_threads(threads);
  fmt::print("{:<12} {:>3} {:>15} {:>10} {:>9} {:>8} {:>8} {:>6} {:>10}\n", "layer", "n", "size", "oneDNN ms",
             "ms", "GB/s", "GFLOP/s", "ratio", "difference");
  for (const int64_t batch : batches) {
    for (const Shape& shape : kShapes) compare(shape, batch, threads, rounds);
  }
}
