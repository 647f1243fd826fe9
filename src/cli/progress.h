#pragma once

#include <string>
#include <vector>

#include "bench/case.h"

namespace tacho {

inline constexpr const char* kClearLine = "\r\x1b[K";

// How long the rest will take if it goes on at the speed so far; negative while nothing is known.
double time_left_ms(double elapsed_ms, double work_done, double work_total);

// One line on stderr that says where a sweep is; nothing where stderr is no terminal.
class Progress {
 public:
  explicit Progress(std::vector<Case> cells);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(size_t cell, int pass, int passes);
  // Where all cells take turns.
  void show_turns(int pass, int passes);

 private:
  double done(size_t cell, int pass, int passes) const;
  void print(const std::string& where, int pass, int passes, double share_done);

  std::vector<Case> cells_;
  bool enabled_;
  std::vector<double> work_;
  double begin_ms_, shown_ms_ = 0;
};

}  // namespace tacho
