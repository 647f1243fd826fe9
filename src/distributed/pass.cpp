#include "distributed/pass.h"

#include "base/clock.h"

namespace tacho {

PassTimes run_pass(Plan& plan, Group& group, std::optional<double> learning_rate) {
  PassTimes times;
  times.begin_ms = now_ms();
  plan.forward();
  times.forward_end_ms = now_ms();
  if (!plan.trains()) {
    times.backward_end_ms = times.exchange_end_ms = times.end_ms = times.forward_end_ms;
    return times;
  }
  plan.backward(&group);
  times.backward_end_ms = now_ms();
  group.finish_exchange();
  times.exchange_end_ms = now_ms();
  plan.update(learning_rate);
  times.end_ms = now_ms();
  return times;
}

void PhaseSamples::reserve(size_t passes) {
  for (auto* samples : {&forward_ms, &backward_ms, &exchange_ms, &update_ms}) samples->reserve(passes);
}

void PhaseSamples::add(const PassTimes& times) {
  forward_ms.push_back(times.forward_end_ms - times.begin_ms);
  backward_ms.push_back(times.backward_end_ms - times.forward_end_ms);
  exchange_ms.push_back(times.exchange_end_ms - times.backward_end_ms);
  update_ms.push_back(times.end_ms - times.exchange_end_ms);
}

}  // namespace tacho
