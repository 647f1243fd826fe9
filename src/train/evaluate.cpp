#include "train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "data/loader.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

double cross_entropy(std::span<const float> logits, size_t label) {
  const double top = std::ranges::max(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - top);
  return std::log(sum) + top - logits[label];
}

}  // namespace

Evaluator::Evaluator(const Recipe& recipe, const Graph& network, const Engine& engine, Weights weights,
                     const std::filesystem::path& kernel_cache, Communicator& ranks)
    : recipe_(recipe),
      ranks_(ranks),
      graph_(network),
      plan_(engine.compile(graph_, std::move(weights),
                           compile_options(recipe.execution, recipe.seed, recipe.update, kernel_cache))) {}

std::optional<Evaluation> Evaluator::run(const ImageSet& set, const Normalization& normalization,
                                         int loader_threads, const std::function<bool()>& should_stop) {
  Loader loader(set, normalization,
                {.batch = recipe_.batch,
                 .rank = ranks_.rank(),
                 .ranks = ranks_.size(),
                 .image = recipe_.image,
                 .threads = loader_threads});
  const auto classes = static_cast<size_t>(recipe_.classes);
  const int64_t together = recipe_.batch * ranks_.size();
  double right = 0, loss = 0;
  for (int64_t done = 0; done < set.count(); done += together) {
    if (any(ranks_, should_stop && should_stop())) return std::nullopt;
    const Batch& batch = loader.next();
    plan_->write(graph_.inputs[0], batch.images);
    plan_->forward();
    const Tensor logits = plan_->read(graph_.outputs[0]);
    // The last batches go on with the first images, which were counted already.
    const int64_t left = set.count() - done - ranks_.rank() * recipe_.batch;
    for (int64_t i = 0; i < std::min(recipe_.batch, left); ++i) {
      const auto row = logits.values<float>().subspan(static_cast<size_t>(i) * classes, classes);
      const int64_t label = batch.labels.values<int64_t>()[static_cast<size_t>(i)];
      right += std::ranges::max_element(row) - row.begin() == label ? 1 : 0;
      loss += cross_entropy(row, static_cast<size_t>(label));
    }
  }
  const auto images = static_cast<double>(set.count());
  return Evaluation{sum(right) / images, sum(loss) / images};
}

double Evaluator::sum(double own) const {
  double total = 0;
  for (const double part : all_gather(ranks_, std::span(&own, 1))) total += part;
  return total;
}

}  // namespace tacho
