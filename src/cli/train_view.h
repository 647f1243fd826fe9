#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "train/trainer.h"

namespace tacho {

// Shows on stderr how a training goes: a bar on a terminal, a line per epoch and every half minute elsewhere.
// With a log, every step and epoch is also a line of JSON there.
class TrainView {
 public:
  // A resumed run goes on in the log that is there.
  TrainView(const Recipe& recipe, const std::optional<std::filesystem::path>& log, bool append);
  ~TrainView();
  TrainView(const TrainView&) = delete;
  TrainView& operator=(const TrainView&) = delete;

  TrainHooks hooks();

 private:
  void show_step(const StepReport& step);
  void show_epoch(size_t number, const TrainedEpoch& epoch);
  void show_note(const std::string& what);
  std::string bar(const StepReport& step) const;
  void clear_line() const;
  void log(const std::string& line);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  int64_t batch_;
  std::string epochs_;  // of the run, where it is known
  bool terminal_;
  double begin_ms_, shown_ms_, steps_ms_ = 0;
  int64_t first_step_ = -1;
  double mean_loss_ = 0;
  std::optional<double> accuracy_;
  std::string log_name_;
  std::unique_ptr<std::FILE, CloseFile> log_;
};

}  // namespace tacho
