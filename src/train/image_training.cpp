#include "train/image_training.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/image_batches.h"
#include "data/source.h"
#include "models/zoo.h"

namespace tacho {
namespace {

constexpr int64_t kSyntheticClasses = 10;
const Extents kSyntheticImage = {32, 32};

bool takes(const Recipe& recipe, const Extents& image) {
  try {
    build_model(find_model(recipe.model), {.image = image, .classes = recipe.classes});
    return true;
  } catch (const UserError&) {
    return false;
  }
}

double cross_entropy(std::span<const float> logits, size_t label) {
  const double top = std::ranges::max(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - top);
  return std::log(sum) + top - logits[label];
}

struct Score {
  double accuracy = 0, loss = 0;
};

void add(const Evaluator::Prediction& seen, Score& score) {
  const auto classes = static_cast<size_t>(seen.output.shape()[1]);
  for (size_t i = 0; i < static_cast<size_t>(seen.images); ++i) {
    const auto logits = seen.output.values<float>().subspan(i * classes, classes);
    const int64_t label = seen.batch.targets.values<int64_t>()[i];
    score.accuracy += std::ranges::max_element(logits) - logits.begin() == label ? 1 : 0;
    score.loss += cross_entropy(logits, static_cast<size_t>(label));
  }
}

// Over every image once, of which each rank takes its part; nothing where it was stopped.
std::optional<Score> score_of(Evaluator& network, const ImageSet& set, const Normalization& normalization,
                              const Recipe& recipe) {
  const int64_t images = std::min(recipe.subset.value_or(set.count()), set.count());
  auto source = std::make_unique<ImageBatches>(
      set, normalization,
      ImageBatchOptions{.share = network.share(), .subset = recipe.subset, .image = recipe.image});
  Score own;
  if (!network.run(std::move(source), images, [&](const auto& seen) { add(seen, own); })) return {};
  const std::vector<double> sums = network.sum(std::array{own.accuracy, own.loss});
  const auto count = static_cast<double>(images);
  return Score{sums[0] / count, sums[1] / count};
}

}  // namespace

void ImageTraining::check(const Recipe& recipe) const {
  const Model& model = find_model(recipe.model);
  if (data_.train.channels() != model.channels) {
    throw UserError("--data {}: images with {} channels, but {} takes {}", recipe.data,
                    data_.train.channels(), model.name, model.channels);
  }
  if (global_batch(recipe) > epoch_images(recipe)) {
    throw UserError("--batch {}: there are only {} training images, and none is twice in a batch",
                    global_batch(recipe), epoch_images(recipe));
  }
}

int64_t ImageTraining::epoch_images(const Recipe& recipe) const {
  return recipe.subset.value_or(data_.train.count());
}

std::unique_ptr<BatchSource> ImageTraining::batches(const Recipe& recipe, const BatchShare& share) const {
  return std::make_unique<ImageBatches>(
      data_.train, data_.normalization,
      ImageBatchOptions{.share = share,
                        .subset = recipe.subset,
                        .image = recipe.image,
                        .augmentation = parse_augmentation(recipe.augmentation),
                        .shuffle_seed = recipe.shuffle ? std::optional(recipe.seed) : std::nullopt,
                        .augmentation_seed = recipe.seed});
}

bool ImageTraining::evaluate(const Recipe& recipe, Evaluator& network, Epoch& epoch) const {
  const std::optional<Score> train = score_of(network, data_.train, data_.normalization, recipe);
  if (!train) return false;
  epoch.train_accuracy = train->accuracy;
  epoch.train_loss = train->loss;
  if (data_.test.count() == 0) return true;
  const std::optional<Score> test = score_of(network, data_.test, data_.normalization, recipe);
  if (!test) return false;
  epoch.test_accuracy = test->accuracy;
  epoch.test_loss = test->loss;
  return true;
}

ImageTraining open_training_images(Recipe& recipe) {
  SyntheticShape synthetic = {.classes = recipe.classes > 0 ? recipe.classes : kSyntheticClasses,
                              .image = recipe.image.empty() ? kSyntheticImage : recipe.image,
                              .seed = recipe.seed};
  if (recipe.subset) synthetic.images = *recipe.subset;
  DataSet data = open_data(recipe.data, synthetic);
  if (recipe.classes == 0) recipe.classes = data.classes;
  if (data.classes > recipe.classes) {
    throw UserError("--classes {}: {} has labels up to {}", recipe.classes, recipe.data, data.classes - 1);
  }
  if (recipe.subset && *recipe.subset > data.train.count()) {
    throw UserError("--subset {}: {} has {} training images", *recipe.subset, recipe.data,
                    data.train.count());
  }
  return ImageTraining(std::move(data));
}

Extents default_image(const Recipe& recipe, const DataSet& data) {
  const Extents own = data.train.image();
  return takes(recipe, own) ? own : find_model(recipe.model).image;
}

}  // namespace tacho
