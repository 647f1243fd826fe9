#include "session/train_log.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "results/record_json.h"

namespace tacho {

void TrainLog::add(const StepReport& step) {
  write({{"event", "step"},
         {"step", step.step},
         {"epoch", step.epoch},
         {"loss", step.loss},
         {"learning_rate", step.learning_rate},
         {"ms", step.milliseconds}});
}

void TrainLog::add(size_t number, const Epoch& epoch) {
  Json line = {{"event", "epoch"}, {"epoch", number}};
  line.update(json_of(epoch));
  write(line);
}

void TrainLog::add_resume(int64_t step) {
  resumed_ = true;
  write({{"event", "resumed"}, {"step", step}});
}

void TrainLog::write(const Json& line) {
  if (!path_) return;
  if (!file_) file_.reset(std::fopen(path_->c_str(), resumed_ ? "a" : "w"));
  if (!file_ || std::fprintf(file_.get(), "%s\n", to_text(line).c_str()) < 0 ||
      std::fflush(file_.get()) != 0) {
    throw UserError("--log {}: cannot be written: {}", path_->string(), std::strerror(errno));
  }
}

}  // namespace tacho
