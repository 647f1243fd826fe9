#include "engine/execution.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json_object.h"
#include "engine/engines.h"

namespace tacho {
namespace {

using E = Execution;

constexpr std::string_view kLow = "low", kSync = "sync", kCuda = "cuda", kOn = "on", kOff = "off";

std::string numbered(const std::string& device, int number) {
  return device == kCuda ? fmt::format("{}:{}", kCuda, number) : device;
}
std::string first_device(const std::string& device) { return numbered(device, 0); }

constexpr std::array kEntries = {
    entry<E, &E::engine>("engine"),
    Entry<E>{"device",
             [](const E& execution) { return execution.device == kCpu ? Json() : Json(execution.device); },
             [](E& execution, const Json& value) { read(value, execution.device); }},
    entry<E, &E::precision>("precision"),
    entry<E, &E::devices>("devices"),
    entry<E, &E::threads>("threads"),
    entry<E, &E::kernel>("kernel"),
    Entry<E>{"autotune",
             [](const E& execution) {
               return execution.device == kCpu ? Json() : Json(execution.autotune ? kOn : kOff);
             },
             [](E& execution, const Json& value) { execution.autotune = value == kOn; }},
    Entry<E>{"memory", [](const E& execution) { return execution.low_memory ? Json(kLow) : Json(); },
             [](E& execution, const Json& value) { execution.low_memory = value == kLow; }},
    entry<E, &E::parallel>("parallel"),
    Entry<E>{"batch_norm",
             [](const E& execution) { return execution.sync_batch_norm ? Json(kSync) : Json(); },
             [](E& execution, const Json& value) { execution.sync_batch_norm = value == kSync; }},
    entry<E, &E::bucket_mib>("bucket_mib"),
};

void check_device(const Engine& engine, const std::string& device) {
  const std::vector<std::string> known = engine.devices();
  if (std::ranges::find(known, first_device(device)) != known.end()) return;
  throw UserError("--device '{}': engine {} finds {} here", device, engine.name(), fmt::join(known, ", "));
}

void check_precision(const Engine& engine, const std::string& precision, const std::string& device) {
  const std::vector<std::string> known = engine.precisions(first_device(device));
  if (std::ranges::find(known, precision) != known.end()) return;
  throw UserError("--precision '{}': engine {} has {} on {}", precision, engine.name(),
                  fmt::join(known, ", "), device);
}

void check_kernel(const Engine& engine, const std::string& kernel) {
  const std::vector<std::string> known = engine.kernels();
  if (kernel.empty() || std::ranges::find(known, kernel) != known.end()) return;
  if (known.empty()) throw UserError("--kernel: engine {} has no choice of kernels", engine.name());
  throw UserError("--kernel '{}' is unknown; engine {} has {}", kernel, engine.name(),
                  fmt::join(known, ", "));
}

}  // namespace

Json fields_of(const Execution& execution, bool training) {
  Json fields = object_of<Execution>(kEntries, execution);
  const bool alone = execution.devices == 1;
  if (execution.parallel.empty()) fields["parallel"] = training ? kAllReduce : kReplicas;
  if (alone && execution.parallel != kScatter) fields.erase("parallel");
  if (alone || !training) {
    fields.erase("batch_norm");
    fields.erase("bucket_mib");
  }
  return fields;
}

bool set_field(Execution& execution, std::string_view name, const Json& value) {
  return set_entry<Execution>(kEntries, name, value, execution);
}

bool is_execution_field(std::string_view name) {
  return std::ranges::find(kEntries, name, &Entry<E>::name) != kEntries.end();
}

bool can_share(const Execution& execution, bool training) {
  return execution.parallel.empty() || training == (execution.parallel == kAllReduce);
}

void check_execution(const Execution& execution, bool training) {
  const Engine& engine = find_engine(execution.engine);
  if (!can_share(execution, training)) {
    throw UserError("--parallel {}: devices share {} by {}", execution.parallel,
                    training ? "training" : "inference", training ? "allreduce" : "replicas or scatter");
  }
  check_device(engine, execution.device);
  if (execution.device != kCpu && execution.device != kCuda && execution.devices > 1)
    throw UserError("--device {}: is one GPU; {} gives each of --devices one of its own", execution.device,
                    kCuda);
  check_precision(engine, execution.precision, execution.device);
  check_kernel(engine, execution.kernel);
  if (execution.autotune && !engine.autotunes(first_device(execution.device)))
    throw UserError("--autotune on: engine {} has nothing to tune on device {}", engine.name(),
                    execution.device);
  if (!execution.low_memory) return;
  if (const auto reason = engine.why_no_low_memory())
    throw UserError("--memory low: engine {} {}", engine.name(), *reason);
}

std::string device_of(const Execution& execution, int seat) {
  const std::vector<std::string> known = find_engine(execution.engine).devices();
  const std::string device = numbered(execution.device, seat);
  if (std::ranges::find(known, device) != known.end()) return device;
  throw UserError("--device {}: device {} of this machine would be {}, and there are {}", execution.device,
                  seat, device, fmt::join(known, ", "));
}

CompileOptions compile_options(const Execution& execution, uint64_t seed, const UpdateRule& update,
                               const std::filesystem::path& kernel_cache, int seat) {
  return {.threads = execution.threads,
          .seed = seed,
          .update = update,
          .autotune = execution.autotune,
          .keep_gradients = execution.devices > 1,
          .low_memory = execution.low_memory,
          .kernel = execution.kernel,
          .kernel_cache = kernel_cache,
          .precision = execution.precision,
          .device = device_of(execution, seat)};
}

}  // namespace tacho
