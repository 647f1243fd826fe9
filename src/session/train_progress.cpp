#include "session/train_progress.h"

#include <fmt/format.h>

#include "base/text.h"
#include "results/format.h"

namespace tacho {
namespace {

constexpr double kRecentLoss = 0.02;  // what one step weighs in the loss that is shown
constexpr int kBarWidth = 20;

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "none";
}

}  // namespace

TrainProgress::TrainProgress(const Recipe& recipe)
    : volume_(learns_volumes(find_model(recipe.model))),
      batch_(static_cast<double>(global_batch(recipe))),
      epochs_(recipe.steps ? "" : fmt::format("/{}", recipe.epochs)) {}

std::string TrainProgress::line_of(const StepReport& step) {
  if (steps_ == 0) mean_loss_ = step.loss;
  mean_loss_ += kRecentLoss * (step.loss - mean_loss_);
  ++steps_;
  steps_ms_ += step.milliseconds;
  const auto full = static_cast<size_t>(kBarWidth * share_of(step));
  return fmt::format("{}[{}{}] step {}/{}, loss {:.3f}{}, {}",
                     volume_ ? "" : fmt::format("epoch {:.2f}{} ", step.epoch, epochs_),
                     std::string(full, '='), std::string(kBarWidth - full, ' '), step.step, step.steps,
                     mean_loss_, last_score_, speed(static_cast<double>(steps_), steps_ms_ / 1e3));
}

std::string TrainProgress::speed(double steps, double seconds) const {
  if (seconds <= 0) return "no time went by";
  return volume_ ? fmt::format("{} iterations/min", format_significant(60 * steps / seconds, 3))
                 : fmt::format("{} images/s", format_significant(batch_ * steps / seconds, 3));
}

std::string TrainProgress::score_of(const Epoch& epoch) const {
  if (!volume_) {
    return fmt::format("training accuracy {}, test accuracy {}", percent(epoch.train_accuracy),
                       percent(epoch.test_accuracy));
  }
  return fmt::format("held out {:.3f} (the best constant {:.3f}), boundary F1 {:.3f}",
                     epoch.test_loss.value_or(0), epoch.constant_loss.value_or(0),
                     epoch.boundary_f1.value_or(0));
}

std::string TrainProgress::line_of(size_t number, const Epoch& epoch) {
  last_score_ = volume_ ? fmt::format(", held out {:.3f}", epoch.test_loss.value_or(0))
                        : fmt::format(", accuracy {}", percent(epoch.test_accuracy ? epoch.test_accuracy
                                                                                   : epoch.train_accuracy));
  return fmt::format(
      "{}: loss {:.3f}, {}, {}, {} training ({:.1f} % of it waiting for data), {} evaluating",
      volume_ ? fmt::format("after {} more steps", epoch.steps) : fmt::format("epoch {}{}", number, epochs_),
      epoch.loss.value_or(0), score_of(epoch), speed(static_cast<double>(epoch.steps), epoch.seconds),
      format_duration_ms(epoch.seconds * 1e3), 100 * epoch.wait_seconds.value_or(0) / epoch.seconds,
      format_duration_ms(epoch.evaluation_seconds.value_or(0) * 1e3));
}

}  // namespace tacho
