#include "tensors/onnx.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"

namespace tacho {
namespace {

constexpr int kIrVersion = 7;
constexpr int kOpset = 13;
constexpr const char* kOutput = "output";

int element_type(const Value& value) {
  if (value.dtype == DType::f32) return onnx::TensorProto::FLOAT;
  throw UserError("{}: {} cannot be exported, only float32", value.name, name_of(value.dtype));
}

void describe_value(const std::string& name, const Value& value, onnx::ValueInfoProto& info) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element_type(value));
  for (const int64_t extent : value.shape) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

// A node that is being filled in. The setters chain.
class NodeWriter {
 public:
  NodeWriter(onnx::NodeProto& node, const char* type) : node_(node) { node_.set_op_type(type); }

  NodeWriter& input(const std::string& name) {
    node_.add_input(name);
    return *this;
  }
  NodeWriter& integer(const char* name, int64_t value) {
    attribute(name, onnx::AttributeProto::INT).set_i(value);
    return *this;
  }
  NodeWriter& real(const char* name, double value) {
    attribute(name, onnx::AttributeProto::FLOAT).set_f(static_cast<float>(value));
    return *this;
  }
  NodeWriter& text(const char* name, const char* value) {
    attribute(name, onnx::AttributeProto::STRING).set_s(value);
    return *this;
  }
  NodeWriter& integers(const char* name, const Extents& values) {
    auto& list = attribute(name, onnx::AttributeProto::INTS);
    for (const int64_t value : values) list.add_ints(value);
    return *this;
  }

 private:
  onnx::AttributeProto& attribute(const char* name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *node_.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  onnx::NodeProto& node_;
};

// Leading padding of every axis, then trailing, as ONNX lists them.
Extents both_ends(Extents leading, const Extents& trailing) {
  leading.insert(leading.end(), trailing.begin(), trailing.end());
  return leading;
}

class Exporter {
 public:
  Exporter(const Graph& graph, const Weights& weights) : graph_(graph), weights_(weights) {
    proto_.set_name(graph.name);
    name_values();
    for (const ValueId id : graph.inputs) describe_value(name(id), graph.value(id), *proto_.add_input());
    for (const ValueId id : graph.outputs) describe_value(name(id), graph.value(id), *proto_.add_output());
    for (const ValueId id : graph.weights()) add_initializer(graph.value(id));
    for (const Node& node : graph.nodes) add_node(node);
  }

  onnx::GraphProto take() { return std::move(proto_); }

 private:
  // ONNX wants every value to have a name of its own. Weights and inputs keep theirs; layers of one name, as
  // the two ReLUs of a residual block, are told apart by the number of the value.
  void name_values() {
    std::set<std::string> taken = {kOutput};
    for (const Value& value : graph_.values)
      if (value.role != Role::activation) taken.insert(value.name);
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      const bool is_free = value.role != Role::activation || taken.insert(value.name).second;
      names_.push_back(is_free ? value.name : fmt::format("{}.{}", value.name, id));
    }
    names_[static_cast<size_t>(graph_.outputs[0])] = kOutput;
  }

  const std::string& name(ValueId id) const { return names_[static_cast<size_t>(id)]; }
  const Shape& input_shape(size_t index) const { return graph_.shape(node_->inputs[index]); }
  const Shape& output_shape() const { return graph_.shape(node_->outputs[0]); }

  void add_initializer(const Value& value) {
    onnx::TensorProto& tensor = *proto_.add_initializer();
    const Tensor& weight = weights_.at(value.name);
    tensor.set_name(value.name);
    tensor.set_data_type(element_type(value));
    for (const int64_t extent : weight.shape()) tensor.add_dims(extent);
    tensor.set_raw_data(weight.raw(), weight.bytes());
  }

  void add_node(const Node& node) {
    node_ = &node;
    std::visit([this](const auto& op) { write(op); }, node.op);
  }

  // A node with the name, inputs and first output of the current one. Others are those of training.
  NodeWriter start(const char* type) {
    onnx::NodeProto& proto = *proto_.add_node();
    proto.set_name(name(node_->outputs[0]));
    for (const ValueId id : node_->inputs) proto.add_input(name(id));
    proto.add_output(name(node_->outputs[0]));
    return {proto, type};
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw UserError("{}: {} cannot be exported to ONNX: {}", node_->name, name_of(node_->op), why);
  }

  void refuse_training(bool training) const {
    if (training) refuse("it is part of a training graph, and only inference graphs are exported");
  }

  void write(const Convolution& op) {
    start("Conv")
        .integers("kernel_shape", spatial(input_shape(1)))
        .integers("strides", op.stride)
        .integers("pads", both_ends(op.padding, op.padding))
        .integers("dilations", op.dilation)
        .integer("group", op.groups);
  }

  void write(const BatchNorm& op) {
    refuse_training(op.training);
    start("BatchNormalization").real("epsilon", op.epsilon).real("momentum", 1 - op.momentum);
  }

  void write(const Relu&) { start("Relu"); }
  void write(const Elu& op) { start("Elu").real("alpha", op.alpha); }
  void write(const Sigmoid&) { start("Sigmoid"); }

  // Ceil mode as plain padding: runtimes disagree on which windows it adds, tacho's shape says it.
  template<typename Pool>
  Extents trailing_padding(const Pool& op) const {
    Extents trailing = op.padding;
    for (size_t axis = 0; op.ceil_mode && axis < trailing.size(); ++axis) {
      const int64_t reach = (output_shape()[axis + 2] - 1) * op.stride[axis] + op.kernel[axis];
      trailing[axis] = std::max<int64_t>(0, reach - input_shape(0)[axis + 2] - op.padding[axis]);
    }
    return trailing;
  }

  void write(const MaxPool& op) {
    refuse_training(op.training);
    start("MaxPool")
        .integers("kernel_shape", op.kernel)
        .integers("strides", op.stride)
        .integers("pads", both_ends(op.padding, trailing_padding(op)));
  }

  void write(const AveragePool& op) {
    const Extents trailing = trailing_padding(op);
    for (size_t axis = 0; op.count_padding && axis < trailing.size(); ++axis)
      if (trailing[axis] > op.padding[axis])
        refuse("its ceil mode adds cells that count_padding must not count");
    start("AveragePool")
        .integers("kernel_shape", op.kernel)
        .integers("strides", op.stride)
        .integers("pads", both_ends(op.padding, trailing))
        .integer("count_include_pad", op.count_padding);
  }

  void write(const GlobalAveragePool&) { start("GlobalAveragePool"); }

  void write(const AdaptiveAveragePool& op) {
    Extents window = spatial(input_shape(0));
    for (size_t axis = 0; axis < window.size(); ++axis) {
      if (window[axis] % op.output[axis] != 0)
        refuse(fmt::format("{} does not divide into {} cells; choose an --image that makes it divide",
                           to_string(spatial(input_shape(0))), to_string(op.output)));
      window[axis] /= op.output[axis];
    }
    start("AveragePool").integers("kernel_shape", window).integers("strides", window);
  }

  void write(const Add&) { start("Add"); }
  void write(const Concat&) { start("Concat").integer("axis", 1); }
  void write(const Linear&) { start("Gemm").integer("transB", 1); }
  void write(const Flatten&) { start("Flatten").integer("axis", 1); }

  void write(const Dropout& op) {
    refuse_training(op.training);
    start("Dropout");
  }

  void write(const Upsample& op) {
    const std::string scales = name(node_->outputs[0]) + ".scales";
    onnx::TensorProto& tensor = *proto_.add_initializer();
    tensor.set_name(scales);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(static_cast<int64_t>(op.scale.size() + 2));
    for (int i = 0; i < 2; ++i) tensor.add_float_data(1);
    for (const int64_t scale : op.scale) tensor.add_float_data(static_cast<float>(scale));
    const std::string no_region;
    start("Resize")
        .input(no_region)
        .input(scales)
        .text("mode", "nearest")
        .text("coordinate_transformation_mode", "asymmetric")
        .text("nearest_mode", "floor");
  }

  std::string add_numbers(const std::string& suffix, const Extents& numbers) {
    onnx::TensorProto& tensor = *proto_.add_initializer();
    tensor.set_name(name(node_->outputs[0]) + suffix);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(numbers.size()));
    for (const int64_t number : numbers) tensor.add_int64_data(number);
    return tensor.name();
  }

  void write(const Crop& op) {
    Extents end, axes;
    for (size_t axis = 0; axis < op.size.size(); ++axis) {
      end.push_back(op.begin[axis] + op.size[axis]);
      axes.push_back(static_cast<int64_t>(axis) + 2);
      if (op.begin[axis] < 0 || end.back() > input_shape(0)[axis + 2])
        refuse("it reaches outside of its input");
    }
    const std::string starts = add_numbers(".starts", op.begin), ends = add_numbers(".ends", end);
    start("Slice").input(starts).input(ends).input(add_numbers(".axes", axes));
  }

  void write(const Fence&) { refuse("ONNX has no op for it"); }

  void write(const SoftmaxCrossEntropy&) { refuse_training(true); }
  void write(const DiceLoss&) { refuse_training(true); }
  void write(const ConvolutionBackwardData&) { refuse_training(true); }
  void write(const ConvolutionBackwardWeights&) { refuse_training(true); }
  void write(const BatchNormBackward&) { refuse_training(true); }
  void write(const ReluBackward&) { refuse_training(true); }
  void write(const EluBackward&) { refuse_training(true); }
  void write(const SigmoidBackward&) { refuse_training(true); }
  void write(const MaxPoolBackward&) { refuse_training(true); }
  void write(const AveragePoolBackward&) { refuse_training(true); }
  void write(const GlobalAveragePoolBackward&) { refuse_training(true); }
  void write(const AdaptiveAveragePoolBackward&) { refuse_training(true); }
  void write(const Slice&) { refuse_training(true); }
  void write(const LinearBackwardData&) { refuse_training(true); }
  void write(const LinearBackwardWeights&) { refuse_training(true); }
  void write(const Reshape&) { refuse_training(true); }
  void write(const DropoutBackward&) { refuse_training(true); }
  void write(const UpsampleBackward&) { refuse_training(true); }
  void write(const SoftmaxCrossEntropyBackward&) { refuse_training(true); }
  void write(const DiceLossBackward&) { refuse_training(true); }

  const Graph& graph_;
  const Weights& weights_;
  std::vector<std::string> names_;  // of every value, by id
  const Node* node_ = nullptr;      // the one being written
  onnx::GraphProto proto_;
};

}  // namespace

std::string to_onnx(const Graph& graph, const Weights& weights) {
  if (graph.training)
    throw UserError("{}: a training graph cannot be exported to ONNX, only an inference graph", graph.name);
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("tacho");
  model.add_opset_import()->set_version(kOpset);
  *model.mutable_graph() = Exporter(graph, weights).take();
  return model.SerializeAsString();
}

void write_onnx(const std::filesystem::path& path, const Graph& graph, const Weights& weights) {
  write_file_atomically(path, to_onnx(graph, weights));
}

}  // namespace tacho
