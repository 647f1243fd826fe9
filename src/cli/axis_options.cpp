#include "cli/axis_options.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json_values.h"
#include "distributed/launch.h"
#include "engine/engines.h"
#include "models/zoo.h"
#include "results/fields.h"

namespace tacho {
namespace {

void add_axis(Command command, const Field& field, TypedAxes& typed) {
  const std::string name(field.name), option = option_of(field), help(field.axis.help);
  if (!field.axis.fallback.empty()) typed.try_emplace(name, field.axis.fallback);
  if (typed.contains(name)) {
    command.option(option, typed[name], help).show_default();
  } else {
    command.option(
        option, [&typed, name](const std::string& text) { typed[name] = text; }, help);
  }
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : models()) names.emplace_back(model.name);
  return names;
}

TypedAxes default_axes() {
  return {{"engine", default_engine()}, {"devices", std::to_string(std::max(1, launched_ranks()))}};
}

void add_axes(Command command, SweepOptions& options) {
  command.option("models", options.models, "Names of 'tacho models'").required().suggest(model_names());
  for (const Field& field : fields()) {
    if (field.axis.parse != nullptr && field.name != "model") add_axis(command, field, options.axes);
  }
}

void add_execution_options(Command command, TypedAxes& typed) {
  for (const Field& field : fields()) {
    if (is_execution_field(field.name)) add_axis(command, field, typed);
  }
}

std::vector<Case> expand(const SweepOptions& options, const World& world) {
  TypedAxes axes = options.axes;
  axes["model"] = fmt::format("{}", fmt::join(options.models, ","));
  return expand(axes, [&](int devices) { return world.threads_per_device(devices); });
}

Execution execution_of(const TypedAxes& typed, const World& world) {
  Execution execution = {.engine = default_engine(), .threads = 0};
  for (const auto& [name, text] : typed) {
    const Field& field = *find_field(name);
    const std::string option = option_of(field);
    const std::vector<Json> values = field.axis.parse(option, text);
    if (values.size() != 1) throw UserError("{} '{}': takes one value here", option, text);
    set_field(execution, name, values.front());
  }
  if (execution.threads == 0) execution.threads = world.threads_per_device(execution.devices);
  return execution;
}

}  // namespace tacho
