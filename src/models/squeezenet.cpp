#include "models/families.h"

namespace tacho {
namespace {

constexpr std::array<int64_t, 8> kSqueeze = {16, 16, 32, 32, 48, 48, 64, 64};
constexpr int64_t kExpansion = 4;  // channels of each expand convolution over those of the squeeze

ValueId convolution_relu(Builder& builder, const std::string& name, const std::string& relu_name, ValueId x,
                         ConvolutionOptions options) {
  options.weight_init = kaiming_uniform_fan_in(weight_shape(builder, x, options));
  options.bias_init = Constant{0};
  return builder.relu(relu_name, builder.convolution(name, x, options));
}

ValueId fire(Builder& builder, const std::string& name, ValueId x, int64_t squeeze) {
  const auto layer = [&](const std::string& part, ValueId in, ConvolutionOptions options) {
    return convolution_relu(builder, name + "." + part, name + "." + part + "_activation", in,
                            std::move(options));
  };
  const int64_t expand = kExpansion * squeeze;
  x = layer("squeeze", x, {.channels = squeeze, .kernel = {1, 1}});
  const ValueId narrow = layer("expand1x1", x, {.channels = expand, .kernel = {1, 1}});
  const ValueId wide = layer("expand3x3", x, {.channels = expand, .kernel = {3, 3}, .padding = {1, 1}});
  return builder.concat(name + ".concat", {narrow, wide});
}

ValueId convolution_classifier(Builder& builder, ValueId x, int64_t classes) {
  x = builder.dropout("classifier.0", x, 0.5);
  x = builder.convolution(
      "classifier.1", x,
      {.channels = classes, .kernel = {1, 1}, .weight_init = Normal{0.01}, .bias_init = Constant{0}});
  x = builder.relu("classifier.2", x);
  x = builder.global_average_pool("classifier.3", x);
  return builder.flatten("flatten", x);
}

}  // namespace

Graph squeezenet(const Model& model, const ModelOptions& options, const SqueezeNetConfig& config) {
  Builder builder{std::string(model.name)};
  ValueId x = image_input(builder, model, options);
  const int64_t kernel = config.stem_kernel;
  x = convolution_relu(builder, "features.0", "features.1", x,
                       {.channels = config.stem_channels, .kernel = {kernel, kernel}, .stride = {2, 2}});

  int index = 2;
  const auto next_name = [&] { return "features." + std::to_string(index++); };
  for (size_t i = 0; i < kSqueeze.size(); ++i) {
    if (config.pool_before[i])
      x = builder.max_pool(next_name(), x,
                           {.kernel = {3, 3}, .stride = {2, 2}, .padding = {}, .ceil_mode = true});
    x = fire(builder, next_name(), x, kSqueeze[i]);
  }
  return builder.finish(convolution_classifier(builder, x, options.classes));
}

}  // namespace tacho
