#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json_values.h"
#include "engine/engine.h"

namespace tacho {

// How something is computed, whatever it is.
struct Execution {
  std::string engine = {};
  std::string precision = std::string(kSinglePrecision);
  int devices = 1;
  int threads = 1;          // per device
  std::string kernel = {};  // of Engine::kernels(); empty: the fastest
  bool low_memory = false;  // of training, see CompileOptions
};

// Its values under the names of the record's fields, and the reverse; false where it has no such field.
Json fields_of(const Execution& execution);
bool set_field(Execution& execution, std::string_view name, const Json& value);
bool is_execution_field(std::string_view name);

// Gives each device its part of the cores where the threads are still 0.
void share_cores(int usable_cores, Execution& execution);

// Throws UserError where the engine is unknown or cannot compute so.
void check_execution(const Execution& execution, bool training);

// `seed` and `update` are those of what is computed; see CompileOptions for `kernel_cache`.
CompileOptions compile_options(const Execution& execution, uint64_t seed, const UpdateRule& update,
                               const std::filesystem::path& kernel_cache);

}  // namespace tacho
