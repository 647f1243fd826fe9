#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

enum class ScheduleKind { constant, step, cosine, one_cycle };

std::string_view name_of(ScheduleKind kind);
// Throws UserError that names the schedules there are.
ScheduleKind parse_schedule(std::string_view name);

// How the learning rate moves over a training of `steps` steps.
//   constant   `rate`
//   step       a tenth of it after one half, a hundredth after three quarters
//   cosine     down to nothing along half a cosine
//   one_cycle  as PyTorch's OneCycleLR: up from a 25th within the first 30 %, then down to nearly nothing,
//              both along half a cosine
// Before that `warmup_steps` rise to it in a straight line; with one_cycle they replace its own 30 %.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double rate = 0.1;
  int64_t steps = 1;
  int64_t warmup_steps = 0;
};

// Of the step with this number, from 0 on.
double learning_rate(const Schedule& schedule, int64_t step);

}  // namespace tacho
