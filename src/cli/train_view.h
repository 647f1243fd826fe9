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
  // A run that resumes goes on in the log that is there.
  TrainView(const Recipe& recipe, std::optional<std::filesystem::path> log);
  ~TrainView();
  TrainView(const TrainView&) = delete;
  TrainView& operator=(const TrainView&) = delete;

  TrainHooks hooks();

 private:
  void show_step(const StepReport& step);
  void show_epoch(size_t number, const Epoch& epoch);
  void show_resume(int64_t step, int64_t steps);
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
  std::optional<std::filesystem::path> log_path_;
  bool resumed_ = false;
  std::unique_ptr<std::FILE, CloseFile> log_;  // opened by the first line
};

}  // namespace tacho
