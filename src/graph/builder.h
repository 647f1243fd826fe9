#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tacho {

struct ConvolutionOptions {
  int64_t channels = 0;  // of the output
  Extents kernel;
  Extents stride = {}, padding = {}, dilation = {};  // empty: 1, 0, 1 on every axis
  int64_t groups = 1;
  bool bias = true;
  std::optional<Initializer> weight_init = {};  // default: PyTorch's, uniform within 1/sqrt(fan_in)
  std::optional<Initializer> bias_init = {};
};

struct LinearOptions {
  int64_t features = 0;  // of the output
  bool bias = true;
  std::optional<Initializer> weight_init = {};
  std::optional<Initializer> bias_init = {};
};

// Emits the nodes of an inference graph. Each call infers the shape of what it adds; a misfit throws
// UserError with the layer's name. Parameter names are the layer's name plus torchvision's suffix (".weight",
// ...).
class Builder {
 public:
  explicit Builder(std::string graph_name);

  ValueId input(std::string name, Shape shape, DType dtype = DType::f32);

  ValueId convolution(const std::string& name, ValueId x, const ConvolutionOptions& options);
  ValueId batch_norm(const std::string& name, ValueId x, double epsilon = 1e-5, double momentum = 0.1);
  ValueId relu(const std::string& name, ValueId x);
  ValueId elu(const std::string& name, ValueId x, double alpha = 1.0);
  ValueId sigmoid(const std::string& name, ValueId x);
  // Pooling: an empty stride is the kernel, an empty padding is 0.
  ValueId max_pool(const std::string& name, ValueId x, MaxPool pool);
  ValueId average_pool(const std::string& name, ValueId x, AveragePool pool);
  ValueId global_average_pool(const std::string& name, ValueId x);
  ValueId adaptive_average_pool(const std::string& name, ValueId x, Extents output);
  ValueId add(const std::string& name, ValueId a, ValueId b);
  ValueId concat(const std::string& name, const std::vector<ValueId>& parts);
  ValueId linear(const std::string& name, ValueId x, const LinearOptions& options);
  ValueId flatten(const std::string& name, ValueId x);
  ValueId dropout(const std::string& name, ValueId x, double probability);
  ValueId upsample(const std::string& name, ValueId x, Extents scale);
  ValueId crop(const std::string& name, ValueId x, Crop crop);
  ValueId fence(const std::string& name, ValueId x, ValueId bounds, double outside = 0);

  const Shape& shape(ValueId id) const { return graph_.shape(id); }

  // The finished graph with one output; the builder is spent.
  Graph finish(ValueId output);

 private:
  ValueId parameter(std::string name, Shape shape, Initializer initializer, Role role = Role::parameter);
  // A node's first output; further outputs follow it in the graph's values.
  ValueId node(const std::string& name, Op op, std::vector<ValueId> inputs);

  Graph graph_;
};

// He initialisation for ReLU (gain sqrt 2) by the fan of a convolution's weight.
Initializer kaiming_normal_fan_in(const Shape& weight);
Initializer kaiming_normal_fan_out(const Shape& weight);
Initializer kaiming_uniform_fan_in(const Shape& weight);

}  // namespace tacho
