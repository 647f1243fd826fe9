#include "data/transform.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tacho {

Augmentation parse_augmentation(std::string_view text) {
  Augmentation result;
  if (text == "none") return result;
  for (const std::string& word : split(text, ',')) {
    if (word == "crop") {
      result.crop = true;
    } else if (word == "flip") {
      result.flip = true;
    } else {
      throw UserError("--augment '{}': there are none, crop, flip and crop,flip", text);
    }
  }
  return result;
}

View2d draw_view(const Augmentation& augmentation, const Extents& image, const Random& random) {
  View2d view;
  const auto shift = [&](int64_t extent, uint64_t draw) {
    const int64_t padding = extent / 8;
    return static_cast<int64_t>(random.bits(draw) % static_cast<uint64_t>(2 * padding + 1)) - padding;
  };
  if (augmentation.crop) {
    view.top = shift(image[0], 0);
    view.left = shift(image[1], 1);
  }
  if (augmentation.flip) view.mirrored = (random.bits(2) >> 63) != 0;
  return view;
}

Transform::Transform(const ImageSet& set, const Normalization& normalization, Extents output)
    : set_(&set), input_(set.image()), output_(std::move(output)) {
  for (size_t c = 0; c < static_cast<size_t>(set.channels()); ++c) {
    const bool normalised = set.images.dtype() == DType::u8 && c < normalization.mean.size();
    scale_.push_back(normalised ? 1 / (255 * normalization.deviation[c]) : 1);
    offset_.push_back(normalised ? -normalization.mean[c] / normalization.deviation[c] : 0);
  }
  if (input_ == output_) return;
  rows_ = taps(input_[0], output_[0]);
  columns_ = taps(input_[1], output_[1]);
}

// Pixels are areas, as in torch.nn.functional.interpolate(align_corners=False).
std::vector<Transform::Tap> Transform::taps(int64_t from, int64_t to) {
  std::vector<Tap> result;
  for (int64_t i = 0; i < to; ++i) {
    const double center =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to);
    const double place = std::clamp(center - 0.5, 0.0, static_cast<double>(from - 1));
    const auto first = static_cast<int64_t>(place);
    result.push_back(
        {first, std::min(first + 1, from - 1), static_cast<float>(place - static_cast<double>(first))});
  }
  return result;
}

void Transform::run(int64_t image, const View2d& view, std::span<float> pixels) const {
  const auto plane = static_cast<size_t>(input_[0] * input_[1]),
             drawn = static_cast<size_t>(output_[0] * output_[1]);
  std::vector<float> between(rows_.empty() ? 0 : plane);
  for (int64_t c = 0; c < set_->channels(); ++c) {
    const size_t begin = static_cast<size_t>(image * set_->channels() + c) * plane;
    const std::span<float> target = pixels.subspan(static_cast<size_t>(c) * drawn, drawn);
    const std::span<float> cut = rows_.empty() ? target : std::span(between);
    if (set_->images.dtype() == DType::u8) {
      cut_out(set_->images.values<uint8_t>().subspan(begin, plane), view, c, cut);
    } else {
      cut_out(set_->images.values<float>().subspan(begin, plane), view, c, cut);
    }
    if (!rows_.empty()) resize(between, target);
  }
}

// What lies beyond the image is black before normalisation, as in torchvision's RandomCrop.
template<typename T>
void Transform::cut_out(std::span<const T> plane, const View2d& view, int64_t channel,
                        std::span<float> pixels) const {
  const int64_t height = input_[0], width = input_[1];
  const float scale = scale_[static_cast<size_t>(channel)], offset = offset_[static_cast<size_t>(channel)];
  const int64_t begin = std::max<int64_t>(0, -view.left), end = std::min(width, width - view.left);
  for (int64_t y = 0; y < height; ++y) {
    const int64_t from_y = y + view.top;
    float* row = pixels.data() + y * width;
    if (from_y < 0 || from_y >= height) {
      std::fill_n(row, width, offset);
      continue;
    }
    const T* from = plane.data() + from_y * width + view.left;
    std::fill_n(row, begin, offset);
    for (int64_t x = begin; x < end; ++x) row[x] = scale * static_cast<float>(from[x]) + offset;
    std::fill(row + end, row + width, offset);
    if (view.mirrored) std::reverse(row, row + width);
  }
}

void Transform::resize(std::span<const float> plane, std::span<float> pixels) const {
  const int64_t width = input_[1];
  float* to = pixels.data();
  for (const Tap& row : rows_) {
    const float* upper = plane.data() + row.first * width;
    const float* lower = plane.data() + row.second * width;
    for (const Tap& column : columns_) {
      const float above = upper[column.first] + column.share * (upper[column.second] - upper[column.first]);
      const float below = lower[column.first] + column.share * (lower[column.second] - lower[column.first]);
      *to++ = above + row.share * (below - above);
    }
  }
}

}  // namespace tacho
