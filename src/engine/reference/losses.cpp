#include "engine/reference/losses.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/reference/layout.h"
#include "graph/op.h"

namespace tacho::reference {
namespace {

size_t label_of(const Tensor& labels, int64_t image, [[maybe_unused]] size_t classes) {
  const auto label = static_cast<size_t>(labels.values<int64_t>()[static_cast<size_t>(image)]);
  assert(label < classes);
  return label;
}

// The share of class `c` in what an image's probabilities should be.
double wanted(double smoothing, size_t c, size_t label, size_t classes) {
  return smoothing / static_cast<double>(classes) + (c == label ? 1 - smoothing : 0);
}

}  // namespace

void softmax_cross_entropy(double smoothing, const Tensor& logits, const Tensor& labels, Tensor& loss,
                           Tensor& probabilities) {
  const int64_t images = logits.shape()[0];
  double total = 0;
  for (int64_t n = 0; n < images; ++n) {
    const auto scores = row(logits, n);
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - largest);
    const double log_sum = largest + std::log(sum);
    std::ranges::transform(scores, row(probabilities, n).begin(),
                           [&](double score) { return static_cast<float>(std::exp(score - log_sum)); });
    const size_t label = label_of(labels, n, scores.size());
    for (size_t c = 0; c < scores.size(); ++c) {
      total += wanted(smoothing, c, label, scores.size()) * (log_sum - scores[c]);
    }
  }
  loss.values<float>()[0] = static_cast<float>(total / static_cast<double>(images));
}

void softmax_cross_entropy_backward(double smoothing, const Tensor& probabilities, const Tensor& labels,
                                    Tensor& dlogits) {
  const int64_t images = probabilities.shape()[0];
  for (int64_t n = 0; n < images; ++n) {
    const auto from = row(probabilities, n);
    const size_t label = label_of(labels, n, from.size());
    for (size_t c = 0; c < from.size(); ++c) {
      const double difference = from[c] - wanted(smoothing, c, label, from.size());
      row(dlogits, n)[c] = static_cast<float>(difference / static_cast<double>(images));
    }
  }
}

void dice_loss(const Tensor& x, const Tensor& target, Tensor& loss, Tensor& sums) {
  const Layout layout = layout_of(x);
  double total = 0;
  for (int64_t channel = 0; channel < layout.channels; ++channel) {
    double products = 0, squares = 0;
    for (int64_t image = 0; image < layout.images; ++image) {
      const auto x_plane = plane(x, image, channel), t_plane = plane(target, image, channel);
      for (size_t i = 0; i < x_plane.size(); ++i) {
        const double value = x_plane[i], wanted = t_plane[i];
        products += value * wanted;
        squares += value * value + wanted * wanted;
      }
    }
    const double numerator = 2 * products, denominator = std::max(squares, kDiceFloor);
    row(sums, 0)[static_cast<size_t>(channel)] = static_cast<float>(numerator);
    row(sums, 1)[static_cast<size_t>(channel)] = static_cast<float>(denominator);
    total -= numerator / denominator;
  }
  loss.values<float>()[0] = static_cast<float>(total);
}

void dice_loss_backward(const Tensor& x, const Tensor& target, const Tensor& sums, Tensor& dx) {
  const Layout layout = layout_of(x);
  for (int64_t channel = 0; channel < layout.channels; ++channel) {
    const double numerator = row(sums, 0)[static_cast<size_t>(channel)];
    const double denominator = row(sums, 1)[static_cast<size_t>(channel)];
    // At the floor the denominator is constant.
    const double slope = denominator > kDiceFloor ? 2 * numerator / (denominator * denominator) : 0.0;
    for (int64_t image = 0; image < layout.images; ++image) {
      const auto x_plane = plane(x, image, channel), t_plane = plane(target, image, channel);
      const auto dx_plane = plane(dx, image, channel);
      for (size_t i = 0; i < x_plane.size(); ++i) {
        dx_plane[i] = static_cast<float>(slope * x_plane[i] - 2.0 * t_plane[i] / denominator);
      }
    }
  }
}

}  // namespace tacho::reference
