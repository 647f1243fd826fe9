#include "engine/reference/normalization.h"

#include <algorithm>
#include <cmath>

#include "engine/reference/layout.h"

namespace tacho::reference {
namespace {

float& at(Tensor& tensor, int64_t channel) { return tensor.values<float>()[static_cast<size_t>(channel)]; }
double at(const Tensor& tensor, int64_t channel) {
  return tensor.values<float>()[static_cast<size_t>(channel)];
}

void blend(float& running, double momentum, double value) {
  running = static_cast<float>((1 - momentum) * running + momentum * value);
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments_of_channel(const Tensor& x, int64_t channel) {
  const Layout layout = layout_of(x);
  const double count = static_cast<double>(layout.images * layout.cells);
  double sum = 0, squares = 0;
  for (int64_t image = 0; image < layout.images; ++image) {
    for (const double value : plane(x, image, channel)) sum += value;
  }
  const double mean = sum / count;
  for (int64_t image = 0; image < layout.images; ++image) {
    for (const double value : plane(x, image, channel)) squares += (value - mean) * (value - mean);
  }
  return {mean, squares / count};
}

std::span<double> numbers_of(const Devices& devices, int64_t channel) {
  return devices.numbers.subspan(2 * static_cast<size_t>(channel), 2);
}

void sum_numbers(const Devices& devices, int64_t channels) {
  devices.sums->sum(devices.numbers.first(2 * static_cast<size_t>(channels)));
}

// Means and means of squares: what cancels when a variance is made of them is the rounding of doubles.
void sum_moments(const Devices& devices, const Tensor& x) {
  for (int64_t c = 0; c < x.shape()[1]; ++c) {
    const Moments own = moments_of_channel(x, c);
    numbers_of(devices, c)[0] = own.mean;
    numbers_of(devices, c)[1] = own.variance + own.mean * own.mean;
  }
  sum_numbers(devices, x.shape()[1]);
}

Moments moments_of_sums(const Devices& devices, int64_t channel) {
  const auto numbers = numbers_of(devices, channel);
  const double mean = numbers[0] / devices.count();
  return {mean, std::max(numbers[1] / devices.count() - mean * mean, 0.0)};
}

// Sums over a channel: of dy, and of dy on the normalised x.
struct GradientSums {
  double plain = 0, projection = 0;
};

GradientSums gradient_sums_of_channel(const Tensor& x, const Tensor& dy, int64_t channel, double center,
                                      double inverse) {
  GradientSums sums;
  for (int64_t image = 0; image < x.shape()[0]; ++image) {
    const auto x_plane = plane(x, image, channel), dy_plane = plane(dy, image, channel);
    for (size_t i = 0; i < x_plane.size(); ++i) {
      sums.plain += dy_plane[i];
      sums.projection += dy_plane[i] * (x_plane[i] - center) * inverse;
    }
  }
  return sums;
}

void sum_gradients(const Devices& devices, const Tensor& x, const Tensor& dy, const Tensor& mean,
                   const Tensor& inverse_deviation) {
  for (int64_t c = 0; c < x.shape()[1]; ++c) {
    const GradientSums own = gradient_sums_of_channel(x, dy, c, at(mean, c), at(inverse_deviation, c));
    numbers_of(devices, c)[0] = own.plain;
    numbers_of(devices, c)[1] = own.projection;
  }
  sum_numbers(devices, x.shape()[1]);
}

// y = (x - mean) * scale + offset
void normalize_channel(const Tensor& x, int64_t channel, double mean, double scale, double offset,
                       Tensor& y) {
  for (int64_t image = 0; image < x.shape()[0]; ++image) {
    std::ranges::transform(plane(x, image, channel), plane(y, image, channel).begin(),
                           [&](double value) { return static_cast<float>((value - mean) * scale + offset); });
  }
}

}  // namespace

void batch_norm_inference(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean, const Tensor& running_var, Tensor& y) {
  for (int64_t c = 0; c < x.shape()[1]; ++c) {
    const double inverse = 1 / std::sqrt(at(running_var, c) + op.epsilon);
    normalize_channel(x, c, at(running_mean, c), at(weight, c) * inverse, at(bias, c), y);
  }
}

void batch_norm_training(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         Tensor& running_mean, Tensor& running_var, Tensor& y, Tensor& mean,
                         Tensor& inverse_deviation, const Devices& devices) {
  const Layout layout = layout_of(x);
  const double count = static_cast<double>(devices.count() * layout.images * layout.cells);
  const bool alone = devices.sums == nullptr;
  if (!alone) sum_moments(devices, x);
  for (int64_t c = 0; c < layout.channels; ++c) {
    const Moments moments = alone ? moments_of_channel(x, c) : moments_of_sums(devices, c);
    const double inverse = 1 / std::sqrt(moments.variance + op.epsilon);
    at(mean, c) = static_cast<float>(moments.mean);
    at(inverse_deviation, c) = static_cast<float>(inverse);
    normalize_channel(x, c, moments.mean, at(weight, c) * inverse, at(bias, c), y);
    blend(at(running_mean, c), op.momentum, moments.mean);
    blend(at(running_var, c), op.momentum, moments.variance * count / std::max(count - 1, 1.0));
  }
}

void batch_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& mean,
                         const Tensor& inverse_deviation, const Tensor& dy, Tensor& dx, Tensor& dweight,
                         Tensor& dbias, const Devices& devices) {
  const Layout layout = layout_of(x);
  const double count = static_cast<double>(devices.count() * layout.images * layout.cells);
  const bool alone = devices.sums == nullptr;
  if (!alone) sum_gradients(devices, x, dy, mean, inverse_deviation);
  for (int64_t c = 0; c < layout.channels; ++c) {
    const double center = at(mean, c), inverse = at(inverse_deviation, c);
    const GradientSums own = gradient_sums_of_channel(x, dy, c, center, inverse);
    at(dbias, c) = static_cast<float>(own.plain);
    at(dweight, c) = static_cast<float>(own.projection);
    const auto [sum, projection] =
        alone ? own : GradientSums{numbers_of(devices, c)[0], numbers_of(devices, c)[1]};
    for (int64_t image = 0; image < layout.images; ++image) {
      const auto x_plane = plane(x, image, c), dy_plane = plane(dy, image, c);
      const auto dx_plane = plane(dx, image, c);
      for (size_t i = 0; i < x_plane.size(); ++i) {
        const double normalized = (x_plane[i] - center) * inverse;
        const double centered = dy_plane[i] - sum / count - normalized * projection / count;
        dx_plane[i] = static_cast<float>(at(weight, c) * inverse * centered);
      }
    }
  }
}

}  // namespace tacho::reference
