#include "cli/train_view.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "results/format.h"
#include "results/record_json.h"

namespace tacho {
namespace {

constexpr double kBetweenBars_ms = 100, kBetweenLines_ms = 30'000;
constexpr double kRecentLoss = 0.02;  // what one step weighs in the loss that is shown
constexpr int kBarWidth = 20;

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "none";
}

}  // namespace

TrainView::TrainView(const Recipe& recipe, std::optional<std::filesystem::path> log)
    : batch_(global_batch(recipe)),
      epochs_(recipe.steps ? "" : fmt::format("/{}", recipe.epochs)),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_ms_(now_ms()),
      shown_ms_(begin_ms_),
      log_path_(std::move(log)) {}

TrainView::~TrainView() { clear_line(); }

TrainHooks TrainView::hooks() {
  return {.on_step = [this](const StepReport& step) { show_step(step); },
          .on_epoch = [this](size_t number, const Epoch& epoch) { show_epoch(number, epoch); },
          .on_resume = [this](int64_t step, int64_t steps) { show_resume(step, steps); },
          .on_note = [this](const std::string& what) { show_note(what); },
          .should_stop = interrupted};
}

void TrainView::show_step(const StepReport& step) {
  if (first_step_ < 0) {
    first_step_ = step.step - 1;
    mean_loss_ = step.loss;
  }
  steps_ms_ += step.milliseconds;
  mean_loss_ += kRecentLoss * (step.loss - mean_loss_);
  log(to_text(Json{{"event", "step"},
                   {"step", step.step},
                   {"epoch", step.epoch},
                   {"loss", step.loss},
                   {"learning_rate", step.learning_rate},
                   {"ms", step.milliseconds}}));
  const double now = now_ms();
  if (now - shown_ms_ < (terminal_ ? kBetweenBars_ms : kBetweenLines_ms)) return;
  shown_ms_ = now;
  fmt::print(stderr, "{}{}{}", terminal_ ? kClearLine : "", bar(step), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

std::string TrainView::bar(const StepReport& step) const {
  const double done = static_cast<double>(step.step) / static_cast<double>(step.steps);
  const auto full = static_cast<size_t>(kBarWidth * done);
  const auto since = static_cast<double>(step.step - first_step_);
  const double left =
      time_left_ms(now_ms() - begin_ms_, since, static_cast<double>(step.steps - first_step_));
  return fmt::format(
      "epoch {:.2f}{} [{}{}] step {}/{}, loss {:.3f}{}, {} images/s, {} left", step.epoch, epochs_,
      std::string(full, '='), std::string(kBarWidth - full, ' '), step.step, step.steps, mean_loss_,
      accuracy_ ? fmt::format(", accuracy {}", percent(accuracy_)) : "",
      format_significant(static_cast<double>(batch_) * since / steps_ms_ * 1e3, 3), format_duration_ms(left));
}

void TrainView::show_epoch(size_t number, const Epoch& epoch) {
  accuracy_ = epoch.test_accuracy ? epoch.test_accuracy : epoch.train_accuracy;
  clear_line();
  fmt::print(stderr,
             "epoch {}{}: loss {:.3f}, training accuracy {}, test accuracy {}, {} images/s, "
             "{} training ({:.1f} % of it waiting for data), {} evaluating\n",
             number, epochs_, epoch.loss.value_or(0), percent(epoch.train_accuracy),
             percent(epoch.test_accuracy), format_significant(epoch.images_per_s.value_or(0), 3),
             format_duration_ms(epoch.seconds * 1e3), 100 * epoch.wait_seconds.value_or(0) / epoch.seconds,
             format_duration_ms(epoch.evaluation_seconds.value_or(0) * 1e3));
  Json line = {{"event", "epoch"}, {"epoch", number}};
  line.update(json_of(epoch));
  log(to_text(line));
}

void TrainView::show_resume(int64_t step, int64_t steps) {
  resumed_ = true;
  show_note(fmt::format("resumed at step {} of {}", step, steps));
  log(to_text(Json{{"event", "resumed"}, {"step", step}}));
}

void TrainView::show_note(const std::string& what) {
  clear_line();
  fmt::print(stderr, "tacho: note: {}\n", what);
}

void TrainView::clear_line() const {
  if (terminal_) fmt::print(stderr, "{}", kClearLine);
}

void TrainView::log(const std::string& line) {
  if (!log_path_) return;
  if (!log_) log_.reset(std::fopen(log_path_->c_str(), resumed_ ? "a" : "w"));
  if (!log_ || std::fprintf(log_.get(), "%s\n", line.c_str()) < 0 || std::fflush(log_.get()) != 0) {
    throw UserError("--log {}: cannot be written: {}", log_path_->string(), std::strerror(errno));
  }
}

}  // namespace tacho
