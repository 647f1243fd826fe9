#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.h"
#include "data/data_set.h"

namespace tacho {

// What may happen to an image before it is trained on.
struct Augmentation {
  bool crop = false;  // padded with zeros by an eighth of its size, then cut out anywhere
  bool flip = false;  // left and right, every other time
};

// "none", "crop", "flip" or "crop,flip". Throws UserError for anything else.
Augmentation parse_augmentation(std::string_view text);

// Where an image is cut out, in its own pixels, and whether it is mirrored.
struct View2d {
  int64_t top = 0, left = 0;
  bool mirrored = false;
};

// A pure function of the random stream.
View2d draw_view(const Augmentation& augmentation, const Extents& image, const Random& random);

// Makes images ready for a network: cut out, mirrored, normalised, and resized bilinearly, each channel in
// turn.
class Transform {
 public:
  // Images of the set become C planes of `output` pixels.
  Transform(const ImageSet& set, const Normalization& normalization, Extents output);

  int64_t floats_per_image() const { return set_->channels() * output_[0] * output_[1]; }
  void run(int64_t image, const View2d& view, std::span<float> pixels) const;

 private:
  struct Tap {
    int64_t first, second;
    float share;  // of the second
  };
  static std::vector<Tap> taps(int64_t from, int64_t to);
  template<typename T>
  void cut_out(std::span<const T> plane, const View2d& view, int64_t channel, std::span<float> pixels) const;
  void resize(std::span<const float> plane, std::span<float> pixels) const;

  const ImageSet* set_;
  Extents input_, output_;
  std::vector<float> scale_, offset_;  // by channel
  std::vector<Tap> rows_, columns_;    // empty: not resized
};

}  // namespace tacho
