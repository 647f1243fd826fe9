#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <numeric>

#include "base/clock.h"
#include "base/text.h"
#include "bench/sweep.h"

namespace tacho {
namespace {

constexpr double kBetweenLines_ms = 100;

}  // namespace

double time_left_ms(double elapsed_ms, double work_done, double work_total) {
  return work_done > 0 ? elapsed_ms * (work_total - work_done) / work_done : -1;
}

Progress::Progress(std::vector<Case> cells)
    : cells_(std::move(cells)), enabled_(isatty(STDERR_FILENO) == 1), begin_ms_(now_ms()) {
  if (!enabled_) return;
  for (const Case& cell : cells_) work_.push_back(expected_work(cell));
}

Progress::~Progress() {
  if (enabled_) fmt::print(stderr, "{}", kClearLine);
}

// The share of all work that lies before this pass.
double Progress::done(size_t cell, int pass, int passes) const {
  const auto here = work_.begin() + static_cast<std::ptrdiff_t>(cell);
  const double total = std::accumulate(work_.begin(), work_.end(), 0.0);
  return total > 0 ? (std::accumulate(work_.begin(), here, 0.0) + *here * pass / passes) / total : 0;
}

void Progress::print(const std::string& where, int pass, int passes, double share_done) {
  const double now = now_ms();
  if (now - shown_ms_ < kBetweenLines_ms) return;
  shown_ms_ = now;
  const double left = time_left_ms(now - begin_ms_, share_done, 1);
  fmt::print(stderr, "{}{}: pass {}/{}{}", kClearLine, where, pass + 1, passes,
             left < 0 ? "" : fmt::format(", {} left", format_duration_ms(left)));
  std::fflush(stderr);
}

void Progress::show(size_t cell, int pass, int passes) {
  if (!enabled_) return;
  const Case& what = cells_[cell];
  const std::string where = fmt::format("[{}/{}] {} {} batch {}", cell + 1, cells_.size(), what.model,
                                        name_of(what.mode), what.batch);
  print(where, pass, passes, done(cell, pass, passes));
}

void Progress::show_turns(int pass, int passes) {
  if (!enabled_) return;
  print(fmt::format("{} cells in turns", cells_.size()), pass, passes, static_cast<double>(pass) / passes);
}

}  // namespace tacho
