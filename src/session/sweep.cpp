#include "session/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "engine/engines.h"
#include "models/zoo.h"
#include "results/fields.h"

namespace tacho {
namespace {

constexpr int64_t kDefaultImageBatch = 16;
constexpr int64_t kDefaultVolumeBatch = 1;
constexpr double kMostCells = 100'000;

struct AxisValues {
  const Field* field;
  std::vector<Json> values;
};

std::string typed_name_of(const Field& field) { return field.name == "model" ? "MODEL" : option_of(field); }

// Those that were typed or have a default of their own, the outermost first.
std::vector<AxisValues> values_of(const TypedAxes& typed) {
  std::vector<AxisValues> axes;
  for (const Field& field : fields()) {
    if (field.axis.parse == nullptr) continue;
    const auto found = typed.find(std::string(field.name));
    const bool given = found != typed.end();
    const std::string_view text = given ? found->second : field.axis.fallback;
    if (given || !text.empty()) axes.push_back({&field, field.axis.parse(typed_name_of(field), text)});
  }
  std::ranges::stable_sort(axes, {}, [](const AxisValues& axis) { return axis.field->axis.nesting; });
  return axes;
}

// Before anything is allocated: a mistyped range multiplies quickly.
void check_size(const std::vector<AxisValues>& axes) {
  double cells = 1;
  for (const AxisValues& axis : axes) cells *= static_cast<double>(axis.values.size());
  if (cells > kMostCells)
    throw UserError("the axes make {:.0f} cells, at most {:.0f} are run", cells, kMostCells);
}

std::vector<Case> product(const Case& first, const std::vector<AxisValues>& axes) {
  std::vector<Case> cells = {first};
  for (const AxisValues& axis : axes) {
    std::vector<Case> longer;
    for (const Case& cell : cells) {
      for (const Json& value : axis.values) set_field(longer.emplace_back(cell), axis.field->name, value);
    }
    cells = std::move(longer);
  }
  return cells;
}

bool has_several(std::string_view name, const std::vector<AxisValues>& axes) {
  return std::ranges::any_of(
      axes, [&](const AxisValues& axis) { return axis.field->name == name && axis.values.size() > 1; });
}

// Only training has gradients to exchange and batches to normalize: inference has one cell,
// however many ways are asked for. And devices share it otherwise.
void drop_what_one_mode_lacks(const std::vector<AxisValues>& axes, std::vector<Case>& cells) {
  const bool norms = has_several("batch_norm", axes), modes = has_several("mode", axes);
  std::erase_if(cells, [&](const Case& cell) {
    const bool training = cell.mode == Mode::train;
    return (norms && !training && cell.execution.sync_batch_norm) ||
           (modes && !can_share(cell.execution, training));
  });
}

// Fills in what depends on the network and the machine.
void complete(Case& cell, const ThreadsPerDevice& threads) {
  const Model& model = find_model(cell.model);
  cell.image = resolve_image(model, cell.image);
  if (cell.batch == 0) cell.batch = model.image.size() == 3 ? kDefaultVolumeBatch : kDefaultImageBatch;
  if (cell.execution.threads == 0) cell.execution.threads = threads(cell.execution.devices);
}

}  // namespace

std::vector<Case> expand(const TypedAxes& typed, const ThreadsPerDevice& threads) {
  const std::vector<AxisValues> axes = values_of(typed);
  check_size(axes);
  const Case unsaid = {.execution = {.engine = default_engine(), .threads = 0}, .batch = 0};
  std::vector<Case> cells = product(unsaid, axes);
  drop_what_one_mode_lacks(axes, cells);
  for (Case& cell : cells) complete(cell, threads);
  return cells;
}

std::vector<Case> expand(const TypedAxes& typed, int usable_cores) {
  return expand(typed, [&](int devices) { return std::max(1, usable_cores / devices); });
}

}  // namespace tacho
