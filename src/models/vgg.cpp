#include <algorithm>

#include "models/families.h"

namespace tacho {
namespace {

constexpr int64_t kHidden = 4096;

ValueId features(Builder& builder, ValueId x, const VggConfig& config) {
  int index = 0;
  const auto next_name = [&] { return "features." + std::to_string(index++); };
  int64_t channels = 64;
  for (const int convolutions : config.convolutions) {
    for (int i = 0; i < convolutions; ++i) {
      ConvolutionOptions options = {.channels = channels, .kernel = {3, 3}, .padding = {1, 1}};
      options.weight_init = kaiming_normal_fan_out(weight_shape(builder, x, options));
      options.bias_init = Constant{0};
      x = builder.convolution(next_name(), x, options);
      x = builder.relu(next_name(), x);
    }
    x = builder.max_pool(next_name(), x, {.kernel = {2, 2}, .stride = {2, 2}, .padding = {}});
    channels = std::min<int64_t>(2 * channels, 512);
  }
  return x;
}

ValueId linear_classifier(Builder& builder, ValueId x, int64_t classes) {
  const auto linear = [&](const std::string& name, int64_t width) {
    return builder.linear(name, x,
                          {.features = width, .weight_init = Normal{0.01}, .bias_init = Constant{0}});
  };
  x = linear("classifier.0", kHidden);
  x = builder.relu("classifier.1", x);
  x = builder.dropout("classifier.2", x, 0.5);
  x = linear("classifier.3", kHidden);
  x = builder.relu("classifier.4", x);
  x = builder.dropout("classifier.5", x, 0.5);
  return linear("classifier.6", classes);
}

}  // namespace

Graph vgg(const Model& model, const ModelOptions& options, const VggConfig& config) {
  Builder builder{std::string(model.name)};
  ValueId x = features(builder, image_input(builder, model, options), config);
  const Extents pooled = {7, 7};
  if (spatial(builder.shape(x)) != pooled) x = builder.adaptive_average_pool("avgpool", x, pooled);
  x = builder.flatten("flatten", x);
  return builder.finish(linear_classifier(builder, x, options.classes));
}

}  // namespace tacho
