#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/shape.h"
#include "base/tensor.h"
#include "graph/op.h"

namespace tacho {

using ValueId = int32_t;

// How a parameter or statistic gets its first values.
struct Constant {
  double value = 0;
};
struct Uniform {
  double bound = 1;  // in [-bound, bound)
};
struct Normal {
  double deviation = 1;
};
struct TruncatedNormal {
  double deviation = 1, bound = 2;  // drawn again outside [-bound, bound]
};
using Initializer = std::variant<Constant, Uniform, Normal, TruncatedNormal>;

enum class Role {
  input,      // written by the caller before a pass
  parameter,  // trained
  statistic,  // running mean and variance: loaded and saved like parameters, never trained
  activation  // everything computed: activations, losses, gradients
};

struct Value {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Role role = Role::activation;
  Initializer initializer = Constant{};
};

// One application of an op. `name` is the torchvision name of the layer it came from.
struct Node {
  Op op;
  std::string name;
  std::vector<ValueId> inputs, outputs;
};

struct ParameterGradient {
  ValueId parameter, gradient;
};

// A network as a list of nodes in execution order. A training graph holds forward, loss and backward:
// nodes before `backward_begin` are the forward pass with its loss, the rest is the backward pass.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // image, then labels or target when training
  std::vector<ValueId> outputs;  // prediction, then loss when training, then gradients of inputs if asked for
  bool training = false;
  size_t backward_begin = 0;  // == nodes.size() for an inference graph
  std::vector<ParameterGradient> gradients;

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  const Shape& shape(ValueId id) const { return value(id).shape; }
  std::optional<ValueId> find(std::string_view value_name) const;
  // Parameters, then statistics, each in order of definition.
  std::vector<ValueId> weights() const;
};

}  // namespace tacho
