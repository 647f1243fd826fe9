#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tacho {

// Where a list of work items is: on a terminal one line on stderr that overwrites itself, elsewhere a line
// every half minute of those that take long.
class Progress {
 public:
  // `works`: how long each item takes relative to the others.
  explicit Progress(std::vector<double> works);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Without a share nothing is said of the time that is left.
  void show(size_t item, bool is_long, const std::string& where, std::optional<double> share_done);
  // Makes room for a line of its own.
  void clear() const;

 private:
  // ", 3 min left"; empty while that is not known.
  std::string time_left(size_t item, double share_done, double now_ms);

  std::vector<double> works_, works_before_;  // of each item; of all before it
  double total_;
  bool terminal_;
  double begin_ms_, shown_ms_ = 0;
  std::optional<double> done_before_;  // what was done when it began: a run that resumes is not at its start
};

}  // namespace tacho
