#include "cli/axis_options.h"

#include <fmt/ranges.h>

#include "base/cpu.h"
#include "base/error.h"
#include "engine/engines.h"
#include "results/fields.h"

namespace tacho {
namespace {

void add_axis(Command command, const Field& field, TypedAxes& typed) {
  std::string& text = typed[std::string(field.name)];
  if (text.empty()) text = field.axis.fallback;
  Option option = command.option(fmt::format("--{}", field.name), text, std::string(field.axis.help));
  if (!text.empty()) option.show_default();
}

}  // namespace

TypedAxes default_axes() { return {{"engine", default_engine()}}; }

void add_axes(Command command, SweepOptions& options) {
  command.option("models", options.models, "Names of 'tacho models'").required();
  for (const Field& field : fields()) {
    if (field.axis.parse != nullptr && field.name != "model") add_axis(command, field, options.axes);
  }
}

void add_execution_options(Command command, TypedAxes& typed) {
  for (const Field& field : fields()) {
    if (is_execution_field(field.name)) add_axis(command, field, typed);
  }
}

std::vector<Case> expand(const SweepOptions& options) {
  TypedAxes axes = options.axes;
  axes["model"] = fmt::format("{}", fmt::join(options.models, ","));
  return expand(axes, usable_cores());
}

Execution execution_of(const TypedAxes& typed) {
  Execution execution = {.engine = default_engine(), .threads = 0};
  for (const auto& [name, text] : typed) {
    if (text.empty()) continue;
    const std::string option = fmt::format("--{}", name);
    const std::vector<Json> values = find_field(name)->axis.parse(option, text);
    if (values.size() != 1) throw UserError("{} '{}': takes one value here", option, text);
    set_field(execution, name, values.front());
  }
  if (execution.threads == 0) execution.threads = std::max(1, usable_cores() / execution.devices);
  return execution;
}

}  // namespace tacho
