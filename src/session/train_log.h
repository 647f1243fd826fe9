#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "train/trainer.h"

namespace tacho {

// A file with a line of JSON for every step and epoch of a training; a run that resumes goes on in it.
// Without a path nothing is written. Throws UserError where it cannot be.
class TrainLog {
 public:
  explicit TrainLog(std::optional<std::filesystem::path> path) : path_(std::move(path)) {}

  void add(const StepReport& step);
  void add(size_t number, const Epoch& epoch);
  void add_resume(int64_t step);

 private:
  void write(const Json& line);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::optional<std::filesystem::path> path_;
  bool resumed_ = false;
  std::unique_ptr<std::FILE, CloseFile> file_;  // opened by the first line
};

}  // namespace tacho
