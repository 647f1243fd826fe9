#include "graph/builder.h"

#include <cmath>

#include "base/error.h"
#include "graph/shape_inference.h"

namespace tacho {
namespace {

Extents or_all(const Extents& given, size_t axes, int64_t fallback) {
  return given.empty() ? Extents(axes, fallback) : given;
}

double fan_in(const Shape& weight) { return static_cast<double>(elements(weight) / weight[0]); }
double fan_out(const Shape& weight) { return static_cast<double>(elements(weight) / weight[1]); }

// PyTorch's default of convolutions and linear layers, for weight and bias alike.
Initializer default_uniform(const Shape& weight) { return Uniform{1 / std::sqrt(fan_in(weight))}; }

}  // namespace

Initializer kaiming_normal_fan_in(const Shape& weight) { return Normal{std::sqrt(2 / fan_in(weight))}; }
Initializer kaiming_normal_fan_out(const Shape& weight) { return Normal{std::sqrt(2 / fan_out(weight))}; }
Initializer kaiming_uniform_fan_in(const Shape& weight) { return Uniform{std::sqrt(6 / fan_in(weight))}; }

Builder::Builder(std::string graph_name) { graph_.name = std::move(graph_name); }

ValueId Builder::input(std::string name, Shape shape, DType dtype) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({std::move(name), std::move(shape), dtype, Role::input, {}});
  graph_.inputs.push_back(id);
  return id;
}

ValueId Builder::parameter(std::string name, Shape shape, Initializer initializer, Role role) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({std::move(name), std::move(shape), DType::f32, role, initializer});
  return id;
}

ValueId Builder::node(const std::string& name, Op op, std::vector<ValueId> inputs) {
  return append_node(graph_, name, std::move(op), std::move(inputs));
}

ValueId Builder::convolution(const std::string& name, ValueId x, const ConvolutionOptions& options) {
  const size_t axes = options.kernel.size();
  const int64_t input_channels = shape(x).size() > 1 ? shape(x)[1] : 0;
  if (options.groups < 1 || input_channels % options.groups != 0) {
    throw UserError("{}: {} groups do not divide {} input channels", name, options.groups, input_channels);
  }
  Shape weight = {options.channels, input_channels / options.groups};
  weight.insert(weight.end(), options.kernel.begin(), options.kernel.end());
  std::vector<ValueId> inputs = {
      x, parameter(name + ".weight", weight, options.weight_init.value_or(default_uniform(weight)))};
  if (options.bias) {
    inputs.push_back(
        parameter(name + ".bias", {options.channels}, options.bias_init.value_or(default_uniform(weight))));
  }
  return node(name,
              Convolution{or_all(options.stride, axes, 1), or_all(options.padding, axes, 0),
                          or_all(options.dilation, axes, 1), options.groups},
              std::move(inputs));
}

ValueId Builder::batch_norm(const std::string& name, ValueId x, double epsilon, double momentum) {
  const Shape channels = {shape(x).at(1)};
  const ValueId weight = parameter(name + ".weight", channels, Constant{1});
  const ValueId bias = parameter(name + ".bias", channels, Constant{0});
  const ValueId mean = parameter(name + ".running_mean", channels, Constant{0}, Role::statistic);
  const ValueId var = parameter(name + ".running_var", channels, Constant{1}, Role::statistic);
  return node(name, BatchNorm{epsilon, momentum, false}, {x, weight, bias, mean, var});
}

ValueId Builder::relu(const std::string& name, ValueId x) { return node(name, Relu{}, {x}); }
ValueId Builder::elu(const std::string& name, ValueId x, double alpha) { return node(name, Elu{alpha}, {x}); }
ValueId Builder::sigmoid(const std::string& name, ValueId x) { return node(name, Sigmoid{}, {x}); }

ValueId Builder::max_pool(const std::string& name, ValueId x, MaxPool pool) {
  if (pool.stride.empty()) pool.stride = pool.kernel;
  pool.padding = or_all(pool.padding, pool.kernel.size(), 0);
  return node(name, std::move(pool), {x});
}

ValueId Builder::average_pool(const std::string& name, ValueId x, AveragePool pool) {
  if (pool.stride.empty()) pool.stride = pool.kernel;
  pool.padding = or_all(pool.padding, pool.kernel.size(), 0);
  return node(name, std::move(pool), {x});
}

ValueId Builder::global_average_pool(const std::string& name, ValueId x) {
  return node(name, GlobalAveragePool{}, {x});
}

ValueId Builder::adaptive_average_pool(const std::string& name, ValueId x, Extents output) {
  return node(name, AdaptiveAveragePool{std::move(output)}, {x});
}

ValueId Builder::add(const std::string& name, ValueId a, ValueId b) { return node(name, Add{}, {a, b}); }

ValueId Builder::concat(const std::string& name, const std::vector<ValueId>& parts) {
  return node(name, Concat{}, parts);
}

ValueId Builder::linear(const std::string& name, ValueId x, const LinearOptions& options) {
  const Shape weight = {options.features, shape(x).size() > 1 ? shape(x)[1] : 0};
  std::vector<ValueId> inputs = {
      x, parameter(name + ".weight", weight, options.weight_init.value_or(default_uniform(weight)))};
  if (options.bias) {
    inputs.push_back(
        parameter(name + ".bias", {options.features}, options.bias_init.value_or(default_uniform(weight))));
  }
  return node(name, Linear{}, std::move(inputs));
}

ValueId Builder::flatten(const std::string& name, ValueId x) { return node(name, Flatten{}, {x}); }

ValueId Builder::dropout(const std::string& name, ValueId x, double probability) {
  return node(name, Dropout{probability, false}, {x});
}

ValueId Builder::upsample(const std::string& name, ValueId x, Extents scale) {
  return node(name, Upsample{std::move(scale)}, {x});
}

ValueId Builder::crop(const std::string& name, ValueId x, Crop crop) {
  return node(name, std::move(crop), {x});
}

ValueId Builder::fence(const std::string& name, ValueId x, ValueId bounds, double outside) {
  return node(name, Fence{outside}, {x, bounds});
}

Graph Builder::finish(ValueId output) {
  graph_.outputs = {output};
  graph_.backward_begin = graph_.nodes.size();
  return std::move(graph_);
}

}  // namespace tacho
