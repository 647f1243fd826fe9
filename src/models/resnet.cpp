#include <fmt/format.h>

#include "models/families.h"

namespace tacho {
namespace {

ValueId convolution(Builder& builder, const std::string& name, ValueId x, int64_t channels, int64_t kernel,
                    int64_t stride = 1) {
  const int64_t padding = kernel / 2;
  ConvolutionOptions options = {.channels = channels,
                                .kernel = {kernel, kernel},
                                .stride = {stride, stride},
                                .padding = {padding, padding},
                                .bias = false};
  options.weight_init = kaiming_normal_fan_out(weight_shape(builder, x, options));
  return builder.convolution(name, x, options);
}

// The convolutions of one block, up to its last batch norm.
ValueId basic_branch(Builder& builder, const std::string& name, ValueId x, int64_t width, int64_t stride) {
  x = convolution(builder, name + ".conv1", x, width, 3, stride);
  x = builder.batch_norm(name + ".bn1", x);
  x = builder.relu(name + ".relu", x);
  x = convolution(builder, name + ".conv2", x, width, 3);
  return builder.batch_norm(name + ".bn2", x);
}

ValueId bottleneck_branch(Builder& builder, const std::string& name, ValueId x, int64_t width,
                          int64_t stride) {
  x = convolution(builder, name + ".conv1", x, width, 1);
  x = builder.batch_norm(name + ".bn1", x);
  x = builder.relu(name + ".relu", x);
  x = convolution(builder, name + ".conv2", x, width, 3, stride);
  x = builder.batch_norm(name + ".bn2", x);
  x = builder.relu(name + ".relu", x);
  x = convolution(builder, name + ".conv3", x, 4 * width, 1);
  return builder.batch_norm(name + ".bn3", x);
}

ValueId block(Builder& builder, ResidualBlock kind, const std::string& name, ValueId x, int64_t width,
              int64_t stride) {
  const auto branch = kind == ResidualBlock::basic ? basic_branch : bottleneck_branch;
  const ValueId y = branch(builder, name, x, width, stride);
  const int64_t channels = builder.shape(y)[1];
  ValueId identity = x;
  if (stride != 1 || builder.shape(x)[1] != channels) {
    identity = convolution(builder, name + ".downsample.0", x, channels, 1, stride);
    identity = builder.batch_norm(name + ".downsample.1", identity);
  }
  return builder.relu(name + ".relu", builder.add(name + ".add", y, identity));
}

}  // namespace

Graph resnet(const Model& model, const ModelOptions& options, const ResNetConfig& config) {
  Builder builder{std::string(model.name)};
  ValueId x = image_input(builder, model, options);
  x = convolution(builder, "conv1", x, 64, 7, 2);
  x = builder.batch_norm("bn1", x);
  x = builder.relu("relu", x);
  x = builder.max_pool("maxpool", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});

  int64_t width = 64;
  for (size_t stage = 0; stage < config.blocks.size(); ++stage, width *= 2) {
    for (int i = 0; i < config.blocks[stage]; ++i) {
      const std::string name = fmt::format("layer{}.{}", stage + 1, i);
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = block(builder, config.block, name, x, width, stride);
    }
  }

  x = builder.global_average_pool("avgpool", x);
  x = builder.flatten("flatten", x);
  return builder.finish(builder.linear("fc", x, {.features = options.classes}));
}

}  // namespace tacho
