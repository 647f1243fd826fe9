#include "session/predict_item.h"

#include <fmt/format.h>

#include "capture/predict_record.h"
#include "graph/cost.h"
#include "models/zoo.h"

namespace tacho {
namespace {

class PredictItem final : public WorkItem {
 public:
  PredictItem(PredictionJob job, PredictionOutput output) : job_(std::move(job)), output_(output) {}

  void check(const std::function<void(const std::string&)>&) override {
    check_prediction(job_);
    const Model& model = find_model(job_.model);
    const double window_flop = static_cast<double>(cost_of(build_model(model, {.batch = 1})).flop);
    double window = 1, volume = 1;
    for (const int64_t extent : model.image) window *= static_cast<double>(extent);
    for (const int64_t extent : open_volume(job_.input)->info().shape) volume *= static_cast<double>(extent);
    flop_ = window_flop / window * volume;
  }

  double work() const override { return flop_; }
  bool is_long() const override { return true; }
  std::vector<Execution> executions() const override { return {job_.execution}; }

  void run(const ItemContext& context, const std::function<void(Record)>& finish) override {
    const auto result = predict(job_, context.world, context.kernel_cache, hooks(context));
    if (!context.world.is_first() || !result) return;
    if (output_ == PredictionOutput::kept) say_how_far(*result, context);
    if (result->blocks == 0 && context.should_stop()) return;
    finish(make_predict_record(job_, *result, context.system));
  }

 private:
  void say_how_far(const PredictionResult& result, const ItemContext& context) const {
    const int64_t done = result.blocks + result.blocks_before;
    if (result.stopped_checking) {
      context.note(
          fmt::format("{}: stopped while it checked what is done; the same call with --resume goes on",
                      job_.output.string()));
    } else if (done < result.all_blocks) {
      context.note(fmt::format("{}: {} of {} blocks are done; the same call with --resume goes on",
                               job_.output.string(), done, result.all_blocks));
    } else if (result.blocks == 0) {
      context.note(fmt::format("{}: all {} blocks are there", job_.output.string(), done));
    }
  }

  static PredictionHooks hooks(const ItemContext& context) {
    return {.note = context.note,
            .on_check =
                [&context](int64_t checked, int64_t all) {
                  context.progress(fmt::format("checking block {} of {}", checked, all), std::nullopt);
                },
            .on_block =
                [&context](int64_t done, int64_t all) {
                  context.progress(fmt::format("block {} of {}", done, all),
                                   static_cast<double>(done) / static_cast<double>(all));
                },
            .should_stop = context.should_stop};
  }

  PredictionJob job_;
  PredictionOutput output_;
  double flop_ = 0;  // without halos
};

}  // namespace

WorkItems predict_item(PredictionJob job, PredictionOutput output) {
  WorkItems items;
  items.push_back(std::make_unique<PredictItem>(std::move(job), output));
  return items;
}

}  // namespace tacho
