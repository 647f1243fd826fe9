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
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

double time_left_ms(double elapsed_ms, double work_done, double work_total) {
  return work_done > 0 ? elapsed_ms * (work_total - work_done) / work_done : -1;
}

Progress::Progress(const std::vector<Case>& cells)
    : cells_(cells), enabled_(isatty(STDERR_FILENO) == 1), begin_ms_(now_ms()) {
  if (!enabled_) return;
  for (const Case& cell : cells) work_.push_back(expected_work(cell));
}

Progress::~Progress() {
  if (enabled_) fmt::print(stderr, "{}", kClearLine);
}

double Progress::done(size_t cell, int pass, int passes) const {
  const auto here = work_.begin() + static_cast<std::ptrdiff_t>(cell);
  return std::accumulate(work_.begin(), here, 0.0) + *here * pass / passes;
}

void Progress::show(size_t cell, int pass, int passes) {
  const double now = now_ms();
  if (!enabled_ || now - shown_ms_ < kBetweenLines_ms) return;
  shown_ms_ = now;
  const double total = std::accumulate(work_.begin(), work_.end(), 0.0);
  const double left = time_left_ms(now - begin_ms_, done(cell, pass, passes), total);
  const Case& what = cells_[cell];
  fmt::print(stderr, "{}[{}/{}] {} {} batch {}: pass {}/{}{}", kClearLine, cell + 1, cells_.size(),
             what.model, name_of(what.mode), what.batch, pass + 1, passes,
             left < 0 ? "" : fmt::format(", {} left", format_duration_ms(left)));
  std::fflush(stderr);
}

}  // namespace tacho
