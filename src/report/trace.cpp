#include "report/trace.h"

#include <fmt/format.h>

#include "base/json_values.h"

namespace tacho {
namespace {

constexpr int kProcess = 1, kThread = 1;
constexpr double kMicrosecondsPerMs = 1000;

Json name_event(const char* what, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", kThread}, {"args", {{"name", name}}}};
}

std::string title(const Record& pass) {
  return fmt::format("tacho: {} {}, batch {}, {}, {} threads", pass.model, pass.mode, pass.batch, pass.image,
                     pass.threads);
}

Json event_of(const LayerTimes& layer) {
  const double duration_ms = layer.end_ms - layer.begin_ms;
  Json arguments = {{"op", layer.op}, {"kernel", layer.kernel}, {"bytes", layer.bytes}};
  if (layer.flop > 0 && duration_ms > 0) {
    arguments["gflops"] = static_cast<double>(layer.flop) / duration_ms / 1e6;
  }
  return {{"name", layer.name},
          {"cat", layer.phase},
          {"ph", "X"},
          {"pid", kProcess},
          {"tid", kThread},
          {"ts", layer.begin_ms * kMicrosecondsPerMs},
          {"dur", duration_ms * kMicrosecondsPerMs},
          {"args", std::move(arguments)}};
}

}  // namespace

std::string format_trace(const Profile& profile) {
  Json events = {name_event("process_name", title(profile.pass)), name_event("thread_name", "layers")};
  for (const LayerTimes& layer : profile.layers) events.push_back(event_of(layer));
  return to_text({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}) + "\n";
}

}  // namespace tacho
