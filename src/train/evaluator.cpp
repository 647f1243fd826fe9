#include "train/evaluator.h"

#include <algorithm>

#include "data/loader.h"
#include "distributed/collectives.h"

namespace tacho {

Evaluator::Evaluator(const Graph& network, std::unique_ptr<Plan> plan, Communicator& ranks, Options options)
    : graph_(network), plan_(std::move(plan)), ranks_(ranks), options_(std::move(options)) {}

BatchShare Evaluator::share() const {
  return {.batch = graph_.shape(graph_.inputs[0])[0], .rank = ranks_.rank(), .ranks = ranks_.size()};
}

bool Evaluator::run(std::unique_ptr<const BatchSource> source, int64_t images,
                    const std::function<void(const Prediction&)>& see) {
  Loader loader(std::move(source), {.threads = options_.loader_threads});
  const BatchShare own = share();
  for (int64_t number = 0; number * own.batch * own.ranks < images; ++number) {
    if (any(ranks_, options_.should_stop && options_.should_stop())) return false;
    const Batch& batch = loader.next();
    plan_->write(graph_.inputs[0], batch.images);
    plan_->forward();
    const int64_t left = images - own.begin(number);
    if (left > 0) see({batch, plan_->read(graph_.outputs[0]), std::min(own.batch, left)});
  }
  return true;
}

std::vector<double> Evaluator::sum(std::span<const double> own) const {
  std::vector<double> total(own.size());
  const std::vector<double> all = all_gather(ranks_, own);
  for (size_t i = 0; i < all.size(); ++i) total[i % own.size()] += all[i];
  return total;
}

}  // namespace tacho
