#include <fmt/format.h>

#include "models/families.h"

namespace tacho {
namespace {

constexpr int64_t kAffinities = 3;  // channels of the output
constexpr std::array<std::string_view, 3> kAxes = {"depth", "height", "width"};

Extents extents(const std::array<int64_t, 3>& numbers) { return {numbers.begin(), numbers.end()}; }

std::string nearest_multiples(int64_t extent, int64_t divisor) {
  const int64_t below = extent / divisor * divisor;
  if (below < divisor) return fmt::format("smallest: {}", divisor);
  return fmt::format("nearest: {} and {}", below, below + divisor);
}

// Throws ImageError for the extents that pooling and upsampling would not restore.
void check_divisible(const Model& model, const Extents& image, const UNet3dConfig& config) {
  std::string wrong;
  for (size_t axis = 0; axis < kAxes.size(); ++axis) {
    int64_t divisor = 1;
    for (const VolumeScale& step : config.scales) divisor *= step.scale[axis];
    if (image[axis] > 0 && image[axis] % divisor == 0) continue;
    wrong += fmt::format("{}{} {} must be a multiple of {} ({})", wrong.empty() ? "" : "; ", kAxes[axis],
                         image[axis], divisor, nearest_multiples(image[axis], divisor));
  }
  if (!wrong.empty())
    throw ImageError("{} cannot take the image {}: {}", model.name, to_string(image), wrong);
}

ValueId convolution(Builder& builder, const std::string& name, ValueId x, int64_t channels) {
  return builder.convolution(name, x, {.channels = channels, .kernel = {3, 3, 3}, .padding = {1, 1, 1}});
}

ValueId coder(Builder& builder, const std::string& name, ValueId x, int64_t channels) {
  for (const std::string& layer : {name + ".conv1", name + ".conv2"}) {
    x = convolution(builder, layer + ".conv", x, channels);
    x = builder.elu(layer + ".activation", x);
  }
  return x;
}

}  // namespace

Graph unet3d(const Model& model, const ModelOptions& options, const UNet3dConfig& config) {
  check_divisible(model, options.image, config);
  Builder builder{std::string(model.name)};
  ValueId x = image_input(builder, model, options);

  std::vector<ValueId> pooled;
  int64_t channels = config.features;
  for (size_t i = 0; i < config.scales.size(); ++i, channels *= config.growth) {
    const VolumeScale& step = config.scales[i];
    x = coder(builder, fmt::format("encoders.{}", i), x, channels);
    x = builder.max_pool(fmt::format("poolers.{}", i), x,
                         {.kernel = extents(step.pool_kernel),
                          .stride = extents(step.scale),
                          .padding = extents(step.pool_padding)});
    pooled.push_back(x);
  }
  x = coder(builder, "base", x, channels);

  // Each decoder joins the pooled encoder output of its own resolution and upsamples last.
  for (size_t i = 0; i < config.scales.size(); ++i) {
    const size_t level = config.scales.size() - 1 - i;
    channels /= config.growth;
    x = builder.concat(fmt::format("decoders.{}.concat", i), {x, pooled[level]});
    x = coder(builder, fmt::format("decoders.{}", i), x, channels);
    x = builder.upsample(fmt::format("samplers.{}", i), x, extents(config.scales[level].scale));
  }
  x = convolution(builder, "output.conv", x, kAffinities);
  return builder.finish(builder.sigmoid("final_activation", x));
}

}  // namespace tacho
