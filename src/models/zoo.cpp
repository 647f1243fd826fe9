#include "models/zoo.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "models/families.h"

namespace tacho {
namespace {

// Beyond this many elements of a batch, counts of bytes and operations could overflow.
constexpr double kMaxBatchElements = 0x1p42;

template<auto family, auto config>
Graph build(const Model& model, const ModelOptions& options) {
  return family(model, options, config);
}

template<auto family, auto config>
Model classifier(std::string_view name, std::string_view family_name, int64_t side = 224,
                 std::string_view training_head = {}) {
  return {.name = name,
          .family = family_name,
          .image = {side, side},
          .training_head = training_head,
          .build = build<family, config>};
}

template<UNet3dConfig config>
Model volume_model(std::string_view name, Extents image) {
  return {.name = name,
          .family = "3D U-Net",
          .image = std::move(image),
          .channels = 1,
          .loss = Loss::dice,
          .build = build<unet3d, config>};
}

constexpr auto kBasic = ResidualBlock::basic;
constexpr auto kBottleneck = ResidualBlock::bottleneck;
constexpr VolumeScale kThird = {{1, 3, 3}, {1, 4, 4}, {0, 1, 1}};
constexpr VolumeScale kHalfPlane = {{1, 2, 2}, {1, 2, 2}, {0, 0, 0}};
constexpr VolumeScale kHalf = {{2, 2, 2}, {2, 2, 2}, {0, 0, 0}};

std::vector<Model> zoo() {
  return {
      classifier<squeezenet, SqueezeNetConfig{96, 7, {1, 0, 0, 1, 0, 0, 0, 1}}>("squeezenet1_0",
                                                                                "SqueezeNet"),
      classifier<squeezenet, SqueezeNetConfig{64, 3, {1, 0, 1, 0, 1, 0, 0, 0}}>("squeezenet1_1",
                                                                                "SqueezeNet"),
      classifier<vgg, VggConfig{{2, 2, 3, 3, 3}}>("vgg16", "VGG"),
      classifier<vgg, VggConfig{{2, 2, 4, 4, 4}}>("vgg19", "VGG"),
      classifier<resnet, ResNetConfig{kBasic, {2, 2, 2, 2}}>("resnet18", "ResNet"),
      classifier<resnet, ResNetConfig{kBasic, {3, 4, 6, 3}}>("resnet34", "ResNet"),
      classifier<resnet, ResNetConfig{kBottleneck, {3, 4, 6, 3}}>("resnet50", "ResNet"),
      classifier<resnet, ResNetConfig{kBottleneck, {3, 4, 23, 3}}>("resnet101", "ResNet"),
      classifier<resnet, ResNetConfig{kBottleneck, {3, 8, 36, 3}}>("resnet152", "ResNet"),
      classifier<densenet, DenseNetConfig{64, 32, {6, 12, 24, 16}}>("densenet121", "DenseNet"),
      classifier<densenet, DenseNetConfig{96, 48, {6, 12, 36, 24}}>("densenet161", "DenseNet"),
      classifier<densenet, DenseNetConfig{64, 32, {6, 12, 32, 32}}>("densenet169", "DenseNet"),
      classifier<densenet, DenseNetConfig{64, 32, {6, 12, 48, 32}}>("densenet201", "DenseNet"),
      classifier<inception, InceptionConfig{}>("inception_v3", "Inception", 299, "AuxLogits."),
      volume_model<UNet3dConfig{12, 5, {kThird, kThird, kThird}}>("unet3d", {40, 432, 432}),
      volume_model<UNet3dConfig{8, 2, {kHalfPlane, kHalf, kHalf}}>("unet3d_lite", {32, 128, 128}),
  };
}

void check_counts(const Model& model, const ModelOptions& options) {
  if (options.batch < 1)
    throw UserError("{}: the batch is {}, expected 1 or more", model.name, options.batch);
  if (options.classes < 1) throw UserError("{}: {} classes, expected 1 or more", model.name, options.classes);
  double elements_per_image = static_cast<double>(model.channels);
  for (const int64_t extent : options.image) elements_per_image *= static_cast<double>(extent);
  const double widest = std::max(elements_per_image, static_cast<double>(options.classes));
  if (static_cast<double>(options.batch) * widest > kMaxBatchElements)
    throw UserError(
        "{}: batch {} of {} images with {} classes is beyond what can be counted; make it smaller",
        model.name, options.batch, to_string(options.image), options.classes);
}

bool can_build(const Model& model, const ModelOptions& options) {
  try {
    model.build(model, options);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// The smallest side of an equal-sided image that the network takes; 0 if not even its own image works.
int64_t smallest_side(const Model& model, ModelOptions options) {
  options.batch = 1;
  options.image = model.image;
  if (!can_build(model, options)) return 0;
  for (int64_t side = 1; side <= std::ranges::max(model.image); ++side) {
    options.image.assign(model.image.size(), side);
    if (can_build(model, options)) return side;
  }
  return 0;
}

}  // namespace

std::span<const Model> models() {
  static const std::vector<Model> kModels = zoo();
  return kModels;
}

const Model& find_model(std::string_view name) {
  const auto found = std::ranges::find(models(), name, &Model::name);
  if (found != models().end()) return *found;
  std::vector<std::string_view> names;
  for (const Model& model : models()) names.push_back(model.name);
  const std::string guess = nearest(name, names);
  throw UserError("unknown model '{}'{} (`tacho models` lists them)", name,
                  guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess));
}

Extents resolve_image(const Model& model, const Extents& image) {
  const size_t axes = model.image.size();
  if (image.empty()) return model.image;
  if (image.size() == axes) return image;
  if (axes == 2 && image.size() == 1) return {image[0], image[0]};
  throw UserError("{} needs --image {}, such as {}, not {}", model.name, axes == 2 ? "S or HxW" : "DxHxW",
                  to_string(model.image), to_string(image));
}

Graph build_model(const Model& model, const ModelOptions& options) {
  ModelOptions chosen = options;
  chosen.image = resolve_image(model, options.image);
  check_counts(model, chosen);
  try {
    return model.build(model, chosen);
  } catch (const ImageError&) {
    throw;
  } catch (const UserError&) {
    const int64_t side = smallest_side(model, chosen);
    if (side == 0) throw;
    throw UserError("the image {} is too small for {}: the smallest square that works is {}x{}",
                    to_string(chosen.image), model.name, side, side);
  }
}

}  // namespace tacho
