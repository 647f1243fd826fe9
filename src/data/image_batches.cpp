#include "data/image_batches.h"

#include <utility>

namespace tacho {

ImageBatches::ImageBatches(const ImageSet& set, const Normalization& normalization, ImageBatchOptions options)
    : set_(set),
      options_(std::move(options)),
      transform_(set, normalization, options_.image),
      order_(std::min(options_.subset.value_or(set.count()), set.count()), options_.shuffle_seed) {}

Batch ImageBatches::make(int64_t count) const {
  const int64_t batch = options_.share.batch;
  const int64_t plane_bytes = options_.image[0] * options_.image[1] * static_cast<int64_t>(sizeof(float));
  require_memory_for(count * batch * set_.channels(), plane_bytes);
  return {Tensor({batch, set_.channels(), options_.image[0], options_.image[1]}, DType::f32),
          Tensor({batch}, DType::i64), std::vector<int64_t>(static_cast<size_t>(batch))};
}

std::vector<Order::Place> ImageBatches::places_of(int64_t number) const {
  const int64_t begin = options_.share.begin(number);
  std::vector<Order::Place> places(static_cast<size_t>(options_.share.batch));
  const std::scoped_lock lock(mutex_);
  for (size_t i = 0; i < places.size(); ++i) places[i] = order_.at(begin + static_cast<int64_t>(i));
  return places;
}

void ImageBatches::fill(int64_t number, Batch& batch) const {
  const auto floats = static_cast<size_t>(transform_.floats_per_image());
  const Random random = Random(options_.augmentation_seed).stream("augment");
  const std::vector<Order::Place> places = places_of(number);
  for (size_t i = 0; i < places.size(); ++i) {
    const auto [epoch, image] = places[i];
    const Random own = random.stream(static_cast<uint64_t>(epoch)).stream(static_cast<uint64_t>(image));
    const View2d view = draw_view(options_.augmentation, set_.image(), own);
    transform_.run(image, view, batch.images.values<float>().subspan(i * floats, floats));
    batch.targets.values<int64_t>()[i] = set_.labels[static_cast<size_t>(image)];
    batch.indices[i] = image;
  }
}

}  // namespace tacho
