#pragma once

#include <string_view>
#include <variant>

#include "base/shape.h"

// Every operation of a network, as data. x is N, C, spatial...; each comment gives inputs -> outputs.
// Ops have no methods: shape inference, gradient, printing and the engines visit the closed variant `Op` and
// do not compile while one is forgotten. Cost and receptive field know those that multiply or look around,
// and no others.
namespace tacho {

// x, weight (Cout, Cin/groups, kernel...), [bias (Cout)] -> y
struct Convolution {
  Extents stride, padding, dilation;
  int64_t groups = 1;
};

// x, weight, bias, running_mean, running_var -> y; with `training`: -> y, mean, spread of the batch, and
// the running statistics are updated in place (running_var with the unbiased variance, as PyTorch does). The
// spread is only the engine's own backward op's: the reference keeps the inverse deviation, native the
// variance.
struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool training = false;
};

// x -> y
struct Relu {};
struct Elu {
  double alpha = 1.0;
};
struct Sigmoid {};

// x -> y; with `training`: -> y, argmax (u8: position of the maximum within its window, row-major). Padding
// never wins.
struct MaxPool {
  Extents kernel, stride = {}, padding = {};
  bool ceil_mode = false;
  bool training = false;
};

// x -> y. `count_padding`: the divisor counts padded cells (but never cells beyond the padding that ceil_mode
// adds).
struct AveragePool {
  Extents kernel, stride = {}, padding = {};
  bool ceil_mode = false;
  bool count_padding = true;
};

// x -> y with all spatial extents 1
struct GlobalAveragePool {};

// x -> y with the given spatial extents, as PyTorch's AdaptiveAvgPool: cell i averages [floor(i*H/h),
// ceil((i+1)*H/h)).
struct AdaptiveAveragePool {
  Extents output;
};

// a, b of one shape -> a + b
struct Add {};

// two or more tensors that differ in channels only -> their concatenation along channels
struct Concat {};

// x (N, F), weight (G, F), [bias (G)] -> y (N, G)
struct Linear {};

// x (N, ...) -> y (N, F)
struct Flatten {};

// x -> x; with `training`: -> y, mask (u8: 1 = kept). Kept values are scaled by 1 / (1 - probability).
// Which are kept: dropout_keeps() in graph/dropout.h, the same on every engine.
struct Dropout {
  double probability = 0.5;
  bool training = false;
};

// x -> y, each cell repeated `scale` times along each spatial axis
struct Upsample {
  Extents scale;
};

// x -> y of the spatial extents `size`: the cells of x from `begin` on, 0 where x has none. Its gradient is
// the crop the other way round.
struct Crop {
  Extents begin, size;
};

// x, bounds (i64, 2 x spatial axes: where they begin, where they end) -> x, but `outside` in the cells
// outside of the bounds, which each pass reads anew. For inference: it has no gradient.
struct Fence {
  double outside = 0;
};

// logits (N, C), labels (i64, N) -> loss (scalar, mean over N), probabilities (N, C). `smoothing` of the
// target is spread evenly over all classes, as in PyTorch.
struct SoftmaxCrossEntropy {
  double smoothing = 0;
};

// x, target of one shape (N, C, ...) -> loss (scalar), sums (2, C): numerator 2*sum(x*t), then
// denominator max(sum(x^2) + sum(t^2), 1e-6). loss = -sum over C of numerator / denominator.
struct DiceLoss {};

inline constexpr double kDiceFloor = 1e-6;

// dy, weight -> dx of shape `input`
struct ConvolutionBackwardData {
  Convolution forward;
  Shape input;
};

// x, dy -> dweight of shape `weight`, [dbias]
struct ConvolutionBackwardWeights {
  Convolution forward;
  Shape weight;
  bool bias = false;
};

// x, weight, mean, spread, dy -> dx, dweight, dbias: see BatchNorm
struct BatchNormBackward {
  double epsilon = 1e-5;
};

// y, dy -> dx
struct ReluBackward {};
struct EluBackward {
  double alpha = 1.0;
};
struct SigmoidBackward {};

// argmax, dy -> dx of shape `input`
struct MaxPoolBackward {
  MaxPool forward;
  Shape input;
};

// dy -> dx of shape `input`
struct AveragePoolBackward {
  AveragePool forward;
  Shape input;
};
struct GlobalAveragePoolBackward {
  Shape input;
};
struct AdaptiveAveragePoolBackward {
  Shape input;
};

// x -> channels [begin, begin + channels) of x: the gradient of one input of Concat
struct Slice {
  int64_t begin = 0, channels = 0;
};

// dy, weight -> dx
struct LinearBackwardData {};

// x, dy -> dweight, [dbias]
struct LinearBackwardWeights {
  bool bias = false;
};

// dy -> dx of shape `input`, the same elements: the gradient of Flatten
struct Reshape {
  Shape input;
};

// mask, dy -> dx
struct DropoutBackward {
  double probability = 0.5;
};

// dy -> dx, the sum over each repeated cell
struct UpsampleBackward {
  Extents scale;
};

// probabilities, labels -> dlogits
struct SoftmaxCrossEntropyBackward {
  double smoothing = 0;
};

// x, target, sums -> dx
struct DiceLossBackward {};

using Op = std::variant<Convolution, BatchNorm, Relu, Elu, Sigmoid, MaxPool, AveragePool, GlobalAveragePool,
                        AdaptiveAveragePool, Add, Concat, Linear, Flatten, Dropout, Upsample, Crop, Fence,
                        SoftmaxCrossEntropy, DiceLoss, ConvolutionBackwardData, ConvolutionBackwardWeights,
                        BatchNormBackward, ReluBackward, EluBackward, SigmoidBackward, MaxPoolBackward,
                        AveragePoolBackward, GlobalAveragePoolBackward, AdaptiveAveragePoolBackward, Slice,
                        LinearBackwardData, LinearBackwardWeights, Reshape, DropoutBackward, UpsampleBackward,
                        SoftmaxCrossEntropyBackward, DiceLossBackward>;

// "convolution", "batch_norm", ...
std::string_view name_of(const Op& op);

// Visits a variant with one lambda per alternative: std::visit(Overloaded{[](const Relu&) {...}, ...}, op).
template<typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace tacho
