#include <fmt/format.h>

#include "models/families.h"

namespace tacho {
namespace {

constexpr int64_t kBottleneckWidth = 4;  // channels of a layer's 1x1 convolution over the growth

ValueId convolution(Builder& builder, const std::string& name, ValueId x, ConvolutionOptions options) {
  options.bias = false;
  options.weight_init = kaiming_normal_fan_in(weight_shape(builder, x, options));
  return builder.convolution(name, x, options);
}

ValueId dense_layer(Builder& builder, const std::string& name, ValueId x, int64_t growth) {
  x = builder.batch_norm(name + ".norm1", x);
  x = builder.relu(name + ".relu1", x);
  x = convolution(builder, name + ".conv1", x, {.channels = kBottleneckWidth * growth, .kernel = {1, 1}});
  x = builder.batch_norm(name + ".norm2", x);
  x = builder.relu(name + ".relu2", x);
  return convolution(builder, name + ".conv2", x, {.channels = growth, .kernel = {3, 3}, .padding = {1, 1}});
}

// Every layer sees all features before it. They are joined one layer at a time: the same values as joining
// the whole list for each layer, with a number of edges that grows linearly.
ValueId dense_block(Builder& builder, const std::string& name, ValueId x, int layers, int64_t growth) {
  for (int i = 1; i <= layers; ++i) {
    const std::string layer = fmt::format("{}.denselayer{}", name, i);
    x = builder.concat(layer + ".concat", {x, dense_layer(builder, layer, x, growth)});
  }
  return x;
}

ValueId transition(Builder& builder, const std::string& name, ValueId x) {
  const int64_t channels = builder.shape(x)[1] / 2;
  x = builder.batch_norm(name + ".norm", x);
  x = builder.relu(name + ".relu", x);
  x = convolution(builder, name + ".conv", x, {.channels = channels, .kernel = {1, 1}});
  return builder.average_pool(name + ".pool", x, {.kernel = {2, 2}, .stride = {2, 2}, .padding = {}});
}

ValueId stem(Builder& builder, ValueId x, int64_t channels) {
  x = convolution(builder, "features.conv0", x,
                  {.channels = channels, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}});
  x = builder.batch_norm("features.norm0", x);
  x = builder.relu("features.relu0", x);
  return builder.max_pool("features.pool0", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
}

}  // namespace

Graph densenet(const Model& model, const ModelOptions& options, const DenseNetConfig& config) {
  Builder builder{std::string(model.name)};
  ValueId x = stem(builder, image_input(builder, model, options), config.stem_channels);
  for (size_t i = 0; i < config.layers.size(); ++i) {
    x = dense_block(builder, fmt::format("features.denseblock{}", i + 1), x, config.layers[i], config.growth);
    if (i + 1 < config.layers.size()) x = transition(builder, fmt::format("features.transition{}", i + 1), x);
  }
  x = builder.batch_norm("features.norm5", x);
  x = builder.relu("relu", x);
  x = builder.global_average_pool("avgpool", x);
  x = builder.flatten("flatten", x);
  return builder.finish(
      builder.linear("classifier", x, {.features = options.classes, .bias_init = Constant{0}}));
}

}  // namespace tacho
