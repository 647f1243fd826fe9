#include "distributed/pass.h"

#include "base/clock.h"

namespace tacho {

PassTimes run_pass(Plan& plan, Group& group, std::optional<double> learning_rate) {
  PassTimes times;
  times.begin_ms = times.scatter_end_ms = now_ms();
  plan.forward();
  times.forward_end_ms = now_ms();
  if (!plan.trains()) {
    times.backward_end_ms = times.exchange_end_ms = times.update_end_ms = times.end_ms = times.forward_end_ms;
    return times;
  }
  if (group.size() == 1) {
    const double update_ms = plan.step(learning_rate);
    times.update_end_ms = times.end_ms = now_ms();
    times.backward_end_ms = times.exchange_end_ms = times.end_ms - update_ms;
    return times;
  }
  plan.backward(&group);
  times.backward_end_ms = now_ms();
  group.finish_exchange();
  times.exchange_end_ms = now_ms();
  plan.update(learning_rate);
  times.update_end_ms = times.end_ms = now_ms();
  times.exchange = group.last_exchange();
  return times;
}

}  // namespace tacho
