#pragma once

#include <array>

#include "base/error.h"
#include "graph/builder.h"
#include "models/zoo.h"

// One builder a family. Each expects options.image to be set: build_model() fills in the model's own.
namespace tacho {

// An image that a network cannot take, with a text that already says which it could.
class ImageError : public UserError {
 public:
  using UserError::UserError;
};

struct SqueezeNetConfig {
  int64_t stem_channels, stem_kernel;
  std::array<bool, 8> pool_before;  // whether a max pooling stands before that fire module
};
Graph squeezenet(const Model& model, const ModelOptions& options, const SqueezeNetConfig& config);

struct VggConfig {
  std::array<int, 5> convolutions;  // of each stage
};
Graph vgg(const Model& model, const ModelOptions& options, const VggConfig& config);

enum class ResidualBlock { basic, bottleneck };
struct ResNetConfig {
  ResidualBlock block;
  std::array<int, 4> blocks;  // of each stage
};
Graph resnet(const Model& model, const ModelOptions& options, const ResNetConfig& config);

struct DenseNetConfig {
  int64_t stem_channels, growth;
  std::array<int, 4> layers;  // of each dense block
};
Graph densenet(const Model& model, const ModelOptions& options, const DenseNetConfig& config);

struct InceptionConfig {};
Graph inception(const Model& model, const ModelOptions& options, const InceptionConfig& config);

struct VolumeScale {
  std::array<int64_t, 3> scale, pool_kernel, pool_padding;
};
struct UNet3dConfig {
  int64_t features, growth;
  std::array<VolumeScale, 3> scales;
};
Graph unet3d(const Model& model, const ModelOptions& options, const UNet3dConfig& config);

// The graph's input "input": batch, the model's channels, the image.
inline ValueId image_input(Builder& builder, const Model& model, const ModelOptions& options) {
  for (const int64_t extent : options.image)
    if (extent < 1) throw UserError("input: an image extent of {}, expected 1 or more", extent);
  Shape shape = {options.batch, model.channels};
  shape.insert(shape.end(), options.image.begin(), options.image.end());
  return builder.input("input", shape);
}

// The weight that Builder::convolution() defines for x.
inline Shape weight_shape(const Builder& builder, ValueId x, const ConvolutionOptions& options) {
  Shape shape = {options.channels, builder.shape(x)[1] / options.groups};
  shape.insert(shape.end(), options.kernel.begin(), options.kernel.end());
  return shape;
}

}  // namespace tacho
