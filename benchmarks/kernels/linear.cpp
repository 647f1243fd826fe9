// Linear layers, forward and their weights' gradient, against oneDNN's inner product in the layouts it likes
// best, turn by turn in one process.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "against_onednn.h"
#include "base/cpu.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/weight_gradient.h"

namespace {

using namespace tacho;
using dnnl::inner_product_backward_weights;
using dnnl::inner_product_forward;
using linear::Layer;

struct Shape {
  const char* name;
  int64_t inputs, outputs;
};

constexpr Shape kShapes[] = {{"vgg fc1", 25088, 4096}, {"vgg fc2", 4096, 4096},
                             {"vgg fc3", 4096, 1000},  {"alexnet fc1", 9216, 4096},
                             {"resnet fc", 512, 1000}, {"densenet fc", 1024, 1000}};

struct LinearProblem {
  explicit LinearProblem(const Layer& shape)
      : layer(shape),
        src({layer.batch, layer.inputs}, Tag::ab),
        weights({layer.outputs, layer.inputs}, Tag::ab),
        bias({layer.outputs}, Tag::a),
        dst({layer.batch, layer.outputs}, Tag::ab) {
    src.fill(1);
    weights.fill(2);
    bias.fill(3);
    dst.fill(4);
  }

  inner_product_forward::primitive_desc describe(dnnl::prop_kind kind, const dnnl::primitive_attr& attributes,
                                                 const dnnl::memory::desc& weights_desc) const {
    return native::describe<inner_product_forward>(engine(), attributes, kind, src.memory.get_desc(),
                                                   weights_desc, bias.memory.get_desc(),
                                                   dst.memory.get_desc());
  }

  Layer layer;
  Tensor src, weights, bias, dst;
};

class OneDnnProduct {
 public:
  explicit OneDnnProduct(LinearProblem& problem)
      : problem_(problem),
        description_(describe(problem)),
        weights_(description_.weights_desc()),
        dst_(description_.dst_desc()),
        primitive_(description_) {
    weights_.copy_from(problem.weights);
  }

  void run() {
    primitive_.execute(stream(), {{DNNL_ARG_SRC, problem_.src.memory},
                                  {DNNL_ARG_WEIGHTS, weights_.memory},
                                  {DNNL_ARG_BIAS, problem_.bias.memory},
                                  {DNNL_ARG_DST, dst_.memory}});
    stream().wait();
  }
  Tensor& result() { return dst_; }

 private:
  static inner_product_forward::primitive_desc describe(const LinearProblem& problem) {
    dnnl::post_ops operations;
    native::append_eltwise(dnnl::algorithm::eltwise_relu, 0, operations);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(operations);
    return problem.describe(dnnl::prop_kind::forward_inference, attributes, any_layout(problem.weights));
  }

  LinearProblem& problem_;
  inner_product_forward::primitive_desc description_;
  Tensor weights_, dst_;
  inner_product_forward primitive_;
};

class OurProduct {
 public:
  OurProduct(LinearProblem& problem, int threads)
      : problem_(problem),
        threads_(threads),
        packed_({linear::packed_weights_floats(problem.layer)}, Tag::a),
        scratch_({std::max<int64_t>(1, linear::scratch_floats(problem.layer, threads))}, Tag::a),
        dst_(problem.dst.memory.get_desc()) {
    pack_weights(problem.layer, problem.weights.data(), packed_.data(), threads);
  }

  void run() {
    forward(problem_.layer,
            {problem_.src.data(), packed_.data(), problem_.bias.data(), /*relu=*/true, dst_.data()},
            scratch_.data(), threads_);
  }
  Tensor& result() { return dst_; }

 private:
  LinearProblem& problem_;
  int threads_;
  Tensor packed_, scratch_, dst_;
};

class OneDnnWeightGradient {
 public:
  explicit OneDnnWeightGradient(LinearProblem& problem)
      : problem_(problem),
        description_(describe(problem)),
        diff_weights_(description_.diff_weights_desc()),
        diff_bias_(problem.bias.memory.get_desc()),
        primitive_(description_) {}

  void run() {
    primitive_.execute(stream(), {{DNNL_ARG_SRC, problem_.src.memory},
                                  {DNNL_ARG_DIFF_DST, problem_.dst.memory},
                                  {DNNL_ARG_DIFF_WEIGHTS, diff_weights_.memory},
                                  {DNNL_ARG_DIFF_BIAS, diff_bias_.memory}});
    stream().wait();
  }
  Tensor& result() { return diff_weights_; }

 private:
  static inner_product_backward_weights::primitive_desc describe(const LinearProblem& problem) {
    const auto forward = problem.describe(dnnl::prop_kind::forward_training, {}, any_layout(problem.weights));
    return native::describe_backward<inner_product_backward_weights>(
        engine(), {}, forward, problem.src.memory.get_desc(), any_layout(problem.weights),
        problem.bias.memory.get_desc(), problem.dst.memory.get_desc());
  }

  LinearProblem& problem_;
  inner_product_backward_weights::primitive_desc description_;
  Tensor diff_weights_, diff_bias_;
  inner_product_backward_weights primitive_;
};

class OurWeightGradient {
 public:
  OurWeightGradient(LinearProblem& problem, int threads)
      : problem_(problem),
        threads_(threads),
        scratch_({linear::weight_gradient_scratch_floats(problem.layer.batch, threads)}, Tag::a),
        gradient_(problem.weights.memory.get_desc()) {}

  void run() {
    const auto& [batch, inputs, outputs] = problem_.layer;
    linear::weight_gradient(
        {batch, outputs, inputs, problem_.dst.data(), outputs, problem_.src.data(), inputs, gradient_.data()},
        scratch_.data(), threads_);
  }
  Tensor& result() { return gradient_; }

 private:
  LinearProblem& problem_;
  int threads_;
  Tensor scratch_, gradient_;
};

double largest_difference(Tensor& theirs, Tensor& ours) {
  Tensor plain(ours.memory.get_desc());
  plain.copy_from(theirs);
  double largest = 0;
  for (size_t i = 0; i < plain.size(); ++i)
    largest = std::max<double>(largest, std::abs(plain.data()[i] - ours.data()[i]));
  return largest;
}

template<typename Library, typename Ours>
void show(const Shape& shape, int64_t batch, int threads, int rounds) {
  LinearProblem problem({batch, shape.inputs, shape.outputs});
  Library library(problem);
  Ours ours(problem, threads);
  const Comparison times = compare(library, ours, rounds);
  const auto weights = static_cast<double>(problem.weights.size());
  fmt::print("{:<12} {:>3} {:>6} -> {:<5} {:>10.3f} {:>9.3f} {:>8.1f} {:>8.1f} {:>6.2f} {:>10.1e}\n",
             shape.name, batch, shape.inputs, shape.outputs, times.onednn_ms, times.ours_ms,
             weights * sizeof(float) / times.ours_ms * 1e-6,
             weights * 2 * static_cast<double>(batch) / times.ours_ms * 1e-6, times.ratio,
             largest_difference(library.result(), ours.result()));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("Linear kernels against oneDNN's inner product");
  std::string operation = "forward";
  int threads = usable_cores(), rounds = 7;
  std::vector<int64_t> batches = {16};
  app.add_option("--operation", operation)->check(CLI::IsMember({"forward", "weights"}));
  app.add_option("--threads", threads);
  app.add_option("--rounds", rounds);
  app.add_option("--batch", batches);
  CLI11_PARSE(app, count, values);
  use_threads(threads);
  fmt::print("{:<12} {:>3} {:>15} {:>10} {:>9} {:>8} {:>8} {:>6} {:>10}\n", "layer", "n", "size", "oneDNN ms",
             "ms", "GB/s", "GFLOP/s", "ratio", "difference");
  const auto show_one = operation == "forward" ? show<OneDnnProduct, OurProduct>
                                               : show<OneDnnWeightGradient, OurWeightGradient>;
  for (const int64_t batch : batches) {
    for (const Shape& shape : kShapes) show_one(shape, batch, threads, rounds);
  }
}
