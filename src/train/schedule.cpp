#include "train/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"

namespace tacho {
namespace {

constexpr std::array<std::pair<ScheduleKind, std::string_view>, 4> kNames = {{
    {ScheduleKind::constant, "constant"},
    {ScheduleKind::step, "step"},
    {ScheduleKind::cosine, "cosine"},
    {ScheduleKind::one_cycle, "one-cycle"},
}};

constexpr double kRisingShare = 0.3, kFirstDivisor = 25, kLastDivisor = 1e4;

// From `from` to `to` along half a cosine while `share` goes from 0 to 1.
double along_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

double one_cycle(const Schedule& schedule, double step) {
  const auto last = static_cast<double>(schedule.steps - 1);
  const double first_rate = schedule.rate / kFirstDivisor, last_rate = first_rate / kLastDivisor;
  const double top = schedule.warmup_steps > 0
                         ? static_cast<double>(schedule.warmup_steps)
                         : std::max(0.0, kRisingShare * static_cast<double>(schedule.steps) - 1);
  if (step < top) return along_cosine(first_rate, schedule.rate, step / top);
  return last <= top ? schedule.rate : along_cosine(schedule.rate, last_rate, (step - top) / (last - top));
}

double falling(const Schedule& schedule, double share) {
  switch (schedule.kind) {
    case ScheduleKind::step: return schedule.rate * (share < 0.5 ? 1 : share < 0.75 ? 0.1 : 0.01);
    case ScheduleKind::cosine: return along_cosine(schedule.rate, 0, share);
    default: return schedule.rate;
  }
}

}  // namespace

std::string_view name_of(ScheduleKind kind) {
  return std::ranges::find(kNames, kind, &decltype(kNames)::value_type::first)->second;
}

ScheduleKind parse_schedule(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  if (found != kNames.end()) return found->first;
  throw UserError("--schedule '{}': there are constant, step, cosine and one-cycle", name);
}

double learning_rate(const Schedule& schedule, int64_t step) {
  if (schedule.kind == ScheduleKind::one_cycle) return one_cycle(schedule, static_cast<double>(step));
  if (step < schedule.warmup_steps) {
    return schedule.rate * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
  }
  const int64_t falling_steps = std::max<int64_t>(1, schedule.steps - schedule.warmup_steps);
  return falling(schedule,
                 static_cast<double>(step - schedule.warmup_steps) / static_cast<double>(falling_steps));
}

}  // namespace tacho
