#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <numeric>

#include "base/clock.h"
#include "base/text.h"

namespace tacho {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";
constexpr double kBetweenUpdates_ms = 100, kBetweenLines_ms = 30'000;

}  // namespace

Progress::Progress(std::vector<double> works)
    : works_(std::move(works)),
      works_before_(works_.size()),
      total_(std::accumulate(works_.begin(), works_.end(), 0.0)),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_ms_(now_ms()) {
  std::exclusive_scan(works_.begin(), works_.end(), works_before_.begin(), 0.0);
  if (!terminal_) shown_ms_ = begin_ms_;
}

Progress::~Progress() { clear(); }

void Progress::clear() const {
  if (terminal_) fmt::print(stderr, "{}", kClearLine);
}

std::string Progress::time_left(size_t item, double share_done, double now_ms) {
  const double all_done = total_ > 0 ? (works_before_[item] + works_[item] * share_done) / total_ : 0;
  if (!done_before_) {
    done_before_ = all_done;
    begin_ms_ = now_ms;
  }
  const double since = all_done - *done_before_;
  if (since <= 0) return "";
  return fmt::format(", {} left", format_duration_ms((now_ms - begin_ms_) * (1 - all_done) / since));
}

void Progress::show(size_t item, bool is_long, const std::string& where, std::optional<double> share_done) {
  const double now = now_ms();
  const std::string left = share_done ? time_left(item, *share_done, now) : "";
  if (!terminal_ && !is_long) return;
  if (now - shown_ms_ < (terminal_ ? kBetweenUpdates_ms : kBetweenLines_ms)) return;
  shown_ms_ = now;
  const std::string place = works_.size() > 1 ? fmt::format("[{}/{}] ", item + 1, works_.size()) : "";
  fmt::print(stderr, "{}{}{}{}{}", terminal_ ? kClearLine : "", place, where, left, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace tacho
