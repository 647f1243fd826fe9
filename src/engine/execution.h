#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/engine.h"

namespace tacho {

inline constexpr std::string_view kAllReduce = "allreduce", kScatter = "scatter", kReplicas = "replicas";

// How something is computed, whatever it is.
struct Execution {
  std::string engine = {};
  std::string device = std::string(kCpu);  // of Engine::devices(); "cuda": see device_of()
  std::string precision = std::string(kSinglePrecision);
  int devices = 1;
  int threads = 1;               // per device
  std::string kernel = {};       // of Engine::kernels(); empty: the fastest
  bool autotune = false;         // see CompileOptions
  bool low_memory = false;       // likewise
  std::string parallel = {};     // training: kAllReduce; inference: kScatter, or kReplicas where it is empty
  bool sync_batch_norm = false;  // of training: statistics of all devices' batches
  int bucket_mib = 25;           // of gradients that are exchanged in one go
};

// Its values under the names of the record's fields, as far as they matter to this kind of pass, and the
// reverse; false where it has no such field.
Json fields_of(const Execution& execution, bool training);
bool set_field(Execution& execution, std::string_view name, const Json& value);
bool is_execution_field(std::string_view name);

// Whether devices can share such a pass in this way.
bool can_share(const Execution& execution, bool training);

// Throws UserError where the engine is unknown or cannot compute so.
void check_execution(const Execution& execution, bool training);

// What computes for the device that has this seat on its machine: of "cuda" each has a GPU of its own. Throws
// UserError where the engine does not find it.
std::string device_of(const Execution& execution, int seat);

// `seed` and `update` are those of what is computed; see CompileOptions for `kernel_cache`, and device_of()
// for `seat`.
CompileOptions compile_options(const Execution& execution, uint64_t seed, const UpdateRule& update,
                               const std::filesystem::path& kernel_cache, int seat = 0);

}  // namespace tacho
